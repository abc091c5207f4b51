#include "actors/stage/ar_scheduler.hpp"

#include "test/actors/stage/scheduler_harness.hpp"

#include <gmock/gmock.h>

namespace omni::test {
namespace {

using testing::ElementsAre;

fake_options model() { return {}; }

ar_limits limits(const fake_options& options = model()) {
  ar_limits made;
  made.blocks = options.blocks;
  made.block_size = options.block_size;
  made.max_model_len = options.max_model_len;
  made.max_num_seqs = 4;
  made.max_num_batched_tokens = 16;
  made.eos_ids = {fake_eos};
  return made;
}

scheduler_harness harness(const ar_limits& with, const fake_options& options = model()) {
  return {std::make_unique<ar_scheduler>(with, &fake_tokenizer()), "thinker", options};
}

ar_scheduler& of(scheduler_harness& run) { return static_cast<ar_scheduler&>(*run.plans); }

/// Tokens per item of the next planned batch.
std::vector<std::size_t> shares(const batch& work) {
  std::vector<std::size_t> counts;
  for (const auto& item : work.items) counts.push_back(item.tokens.size());
  return counts;
}

std::string spelled(const std::vector<std::int32_t>& tokens) { return fake_tokenizer().decode(tokens, true); }

TEST(ar_scheduler, says_what_the_model_says) {
  auto run = harness(limits());
  run.open(text_task(1, "hello", 12));
  run.run();
  const auto expected = expected_tokens(fake_tokens("hello"), 12, text_task(1, "").what.sampling);
  EXPECT_EQ(run.of(1).tokens, expected);
  EXPECT_EQ(run.of(1).text, spelled(expected));
  EXPECT_EQ(run.of(1).finish, finish_reason::length);
  EXPECT_EQ(run.of(1).usage.prompt_tokens, 5);
  EXPECT_EQ(run.of(1).usage.completion_tokens, 12);
  EXPECT_EQ(run.results.at(1).generation_tokens, 12);
  EXPECT_TRUE(run.slots.empty());
  EXPECT_EQ(of(run).blocks().free(), 64);
}

TEST(ar_scheduler, cuts_long_prompts_to_the_token_budget) {
  auto run = harness(limits());
  std::vector<std::size_t> sizes;
  run.on_batch = [&](const batch& work) { sizes.push_back(work.items[0].tokens.size()); };
  run.open(text_task(1, std::string(40, 'p'), 2));
  run.run();
  EXPECT_THAT(sizes, ElementsAre(16, 16, 8, 1));
  EXPECT_EQ(run.of(1).tokens, expected_tokens(fake_tokens(std::string(40, 'p')), 2, text_task(1, "").what.sampling));
}

TEST(ar_scheduler, decodes_before_it_continues_prompts) {
  auto run = harness(limits());
  run.open(text_task(1, "ab"));
  run.step();
  run.open(text_task(2, std::string(40, 'q')));
  EXPECT_THAT(shares(run.plans->plan(run.now)), ElementsAre(1, 15));
  run.step();
  run.open(text_task(3, "cd"));
  EXPECT_THAT(shares(run.plans->plan(run.now)), ElementsAre(1, 15)) << "the newcomer waits for tokens of the budget";
}

TEST(ar_scheduler, runs_no_more_sequences_than_allowed_in_order_of_arrival) {
  auto run = harness(limits());
  for (std::uint64_t id = 1; id <= 6; ++id) run.open(text_task(id, "x"));
  EXPECT_EQ(run.plans->plan(run.now).items.size(), 4u);
  EXPECT_EQ(of(run).running(), 4u);
  EXPECT_EQ(of(run).waiting(), 2u);
  run.end({2});
  EXPECT_EQ(of(run).running(), 3u);
  run.step();
  EXPECT_EQ(of(run).running(), 4u);
  run.run();
  EXPECT_EQ(run.results.size(), 6u);
}

TEST(ar_scheduler, finds_the_blocks_of_an_earlier_prompt_and_counts_them_once) {
  auto run = harness(limits());
  run.open(text_task(1, "the same long prompt!", 4)); // 21 tokens: 5 full blocks
  run.run();
  std::vector<std::size_t> sizes;
  run.on_batch = [&](const batch& work) { sizes.push_back(work.items[0].tokens.size()); };
  run.open(text_task(2, "the same long prompt!", 4));
  run.run();
  EXPECT_EQ(sizes.front(), 1u);
  EXPECT_EQ(run.of(2).usage.cached_tokens, 20);
  EXPECT_EQ(run.of(2).tokens, run.of(1).tokens);
  EXPECT_EQ(run.facts.prefix_cache.requests, 2);
  EXPECT_EQ(run.facts.prefix_cache.queries, 42);
  EXPECT_EQ(run.facts.prefix_cache.hits, 20);
  EXPECT_EQ(run.facts.prompt.computed, 22);
  EXPECT_EQ(run.facts.prompt.local_cached, 20);
}

TEST(ar_scheduler, computes_the_last_token_of_a_prompt_that_is_wholly_cached) {
  auto run = harness(limits());
  run.open(text_task(1, "12345678", 1));
  run.run();
  run.open(text_task(2, "12345678", 1));
  const auto& work = run.plans->plan(run.now);
  EXPECT_EQ(work.items[0].position, 4);
  EXPECT_EQ(work.items[0].tokens.size(), 4u);
  EXPECT_TRUE(work.items[0].sample);
}

TEST(ar_scheduler, caches_full_blocks_of_generated_tokens_too) {
  auto run = harness(limits());
  run.open(text_task(1, "1234", 9));
  run.run();
  auto next = text_task(2, "", 1);
  next.what.prompt = fake_tokens("1234");
  for (const auto token : run.of(1).tokens) next.what.prompt.push_back(token);
  run.open(next);
  run.run();
  EXPECT_EQ(run.of(2).usage.cached_tokens, 12) << "the prompt's block and two of the answer";
}

TEST(ar_scheduler, finds_nothing_when_prefix_caching_is_off) {
  auto with = limits();
  with.prefix_caching = false;
  auto run = harness(with);
  for (std::uint64_t id : {1, 2}) {
    run.open(text_task(id, "the same long prompt!", 4));
    run.run();
  }
  EXPECT_EQ(run.of(2).usage.cached_tokens, 0);
  EXPECT_EQ(run.facts.prefix_cache.requests, 0);
  EXPECT_EQ(run.of(2).tokens, run.of(1).tokens);
}

TEST(ar_scheduler, preempts_the_youngest_when_blocks_run_out_and_its_output_is_the_same) {
  auto options = model();
  options.blocks = 8;
  auto with = limits(options);
  auto run = harness(with, options);
  int steps_of_oldest = 0;
  run.on_batch = [&](const batch& work) {
    steps_of_oldest += !run.results.contains(1) && work.items.front().slot == 0;
  };
  for (std::uint64_t id = 1; id <= 3; ++id) run.open(text_task(id, "p" + std::to_string(id), 18));
  run.run();
  EXPECT_GT(run.facts.preemptions, 0);
  for (std::uint64_t id = 1; id <= 3; ++id)
    EXPECT_EQ(run.of(id).tokens,
              expected_tokens(fake_tokens("p" + std::to_string(id)), 18, text_task(1, "").what.sampling));
  EXPECT_EQ(steps_of_oldest, 18) << "the oldest is never preempted";
}

TEST(ar_scheduler, does_not_count_what_a_resumed_sequence_finds_as_hits) {
  auto options = model();
  options.blocks = 8;
  auto run = harness(limits(options), options);
  for (std::uint64_t id = 1; id <= 3; ++id) run.open(text_task(id, "p" + std::to_string(id), 18));
  run.run();
  EXPECT_GT(run.facts.preemptions, 0);
  EXPECT_EQ(run.facts.prefix_cache.requests, 3);
  EXPECT_EQ(run.facts.prefix_cache.hits, 0);
  EXPECT_GT(run.facts.preempted_prefix_cache.requests, 0);
  EXPECT_EQ(run.facts.prompt.local_cached, 0);
}

TEST(ar_scheduler, keeps_some_blocks_free_for_those_that_run) {
  auto options = model();
  options.blocks = 6;
  auto run = harness(limits(options), options);
  run.open(text_task(1, "123456789012")); // 3 blocks
  run.open(text_task(2, "abcdefghijkl")); // would leave none
  EXPECT_EQ(run.plans->plan(run.now).items.size(), 1u);
}

TEST(ar_scheduler, frees_everything_of_an_aborted_request_at_once) {
  auto run = harness(limits());
  run.open(text_task(1, "abcdefgh"));
  run.open(text_task(2, "ijklmnop"));
  run.step();
  run.end({1});
  EXPECT_EQ(of(run).running(), 1u);
  EXPECT_EQ(of(run).blocks().usage(), 2.0 / 64);
  EXPECT_EQ(run.slots.size(), 1u);
  EXPECT_EQ(run.results.at(1).finish, finish_reason::abort);
  EXPECT_EQ(run.facts.finished.by_reason[std::size_t(finished_as::abort)], 1);
  run.run();
  EXPECT_EQ(run.of(2).finish, finish_reason::length);
}

TEST(ar_scheduler, ignores_the_end_of_an_unknown_request) {
  auto run = harness(limits());
  run.end({9});
  EXPECT_TRUE(run.results.empty());
}

TEST(ar_scheduler, refuses_a_prompt_that_leaves_no_room_for_an_answer) {
  auto options = model();
  options.max_model_len = 12;
  auto run = harness(limits(options), options);
  run.open(text_task(1, "123456789012"));
  ASSERT_TRUE(run.results.contains(1));
  EXPECT_EQ(run.results.at(1).problem->code, errc::context_too_long);
  EXPECT_FALSE(run.plans->has_work());
  run.open(text_task(2, ""));
  EXPECT_EQ(run.results.at(2).problem->code, errc::invalid_request);
}

TEST(ar_scheduler, ends_a_sequence_that_fills_the_cache) {
  auto options = model();
  options.blocks = 3;
  options.max_model_len = 1000;
  auto run = harness(limits(options), options);
  run.open(text_task(1, "12345", 100));
  run.run();
  EXPECT_EQ(run.of(1).finish, finish_reason::length);
  EXPECT_EQ(run.of(1).usage.completion_tokens, 7);
}

TEST(ar_scheduler, gives_each_choice_its_own_tokens_and_one_result) {
  auto run = harness(limits());
  auto task = text_task(1, "a prompt of some length", 8);
  task.what.n = 3;
  task.what.sampling.temperature = 1;
  task.what.sampling.seed = 5;
  run.open(task);
  run.run();
  for (std::int32_t choice = 0; choice < 3; ++choice) {
    auto sampling = task.what.sampling;
    sampling.seed = 5 + std::uint64_t(choice);
    EXPECT_EQ(run.of(1, choice).tokens, expected_tokens(task.what.prompt, 8, sampling));
  }
  EXPECT_NE(run.of(1, 0).tokens, run.of(1, 1).tokens);
  EXPECT_EQ(run.results.at(1).generation_tokens, 24);
  EXPECT_EQ(run.facts.groups.n.count(), 1);
}

TEST(ar_scheduler, computes_a_shared_prompt_once_for_all_choices) {
  auto run = harness(limits());
  std::size_t fed = 0;
  run.on_batch = [&](const batch& work) {
    for (const auto& item : work.items) fed += item.tokens.size();
  };
  auto task = text_task(1, "123456789", 1);
  task.what.n = 3;
  run.open(task);
  run.run();
  EXPECT_EQ(fed, 9u + 1 + 1) << "of later choices only what follows the full blocks";
  EXPECT_EQ(run.of(1, 2).usage.cached_tokens, 8);
}

TEST(ar_scheduler, stops_at_a_stop_string_across_tokens) {
  auto options = model();
  options.answer = "one two three";
  auto run = harness(limits(), options);
  auto task = text_task(1, "q", 50);
  task.what.sampling.stop = {"o th"};
  task.for_next = true;
  run.open(task);
  run.run();
  EXPECT_EQ(run.of(1).text, "one tw");
  EXPECT_EQ(run.of(1).finish, finish_reason::stop);
  EXPECT_EQ(run.of(1).stop_reason, "o th");
  std::string handed;
  for (const auto& piece : run.handed_on[1])
    if (piece.data) handed += piece.data->text;
  EXPECT_EQ(handed, "one tw");
  EXPECT_TRUE(run.handed_on[1].back().end);
}

TEST(ar_scheduler, leaves_the_stop_token_out_of_the_text_but_counts_it) {
  auto options = model();
  options.answer = "hi!more";
  auto run = harness(limits(), options);
  auto task = text_task(1, "q", 50);
  task.what.sampling.stop_token_ids = {'!'};
  run.open(task);
  run.run();
  EXPECT_EQ(run.of(1).text, "hi");
  EXPECT_EQ(run.of(1).usage.completion_tokens, 3);
  EXPECT_EQ(run.of(1).stop_reason, "33");
}

TEST(ar_scheduler, sends_only_whole_characters_and_all_of_their_tokens) {
  auto options = model();
  options.answer = "a\u00e9\u20ac";
  auto run = harness(limits(), options);
  auto task = text_task(1, "q", 50);
  task.what.sampling.ignore_eos = false;
  run.open(task);
  run.run();
  EXPECT_EQ(run.of(1).text, options.answer);
  EXPECT_EQ(run.of(1).pieces, 4) << "three characters, and the end";
  EXPECT_EQ(run.of(1).tokens.size(), options.answer.size() + 1);
}

TEST(ar_scheduler, hands_text_on_without_telling_a_client_that_wants_none) {
  auto options = model();
  options.answer = "yes";
  auto run = harness(limits(), options);
  auto task = text_task(1, "q", 3);
  task.for_client = false;
  task.for_next = true;
  run.open(task);
  run.run();
  EXPECT_EQ(run.of(1).pieces, 0);
  ASSERT_EQ(run.handed_on[1].size(), 3u);
  EXPECT_EQ(run.handed_on[1][0].data->text, "y");
}

TEST(ar_scheduler, books_a_request_as_it_goes) {
  auto run = harness(limits());
  auto task = text_task(1, "hello", 3);
  task.arrival = run.now - 500'000;
  run.open(task);
  run.step_us = 20'000;
  run.run();
  EXPECT_EQ(run.facts.generation_tokens, 3);
  EXPECT_EQ(run.facts.time_to_first_token.count(), 1);
  EXPECT_NEAR(run.facts.time_to_first_token.sum, 0.52, 1e-9);
  EXPECT_EQ(run.facts.inter_token_latency.count(), 2);
  EXPECT_NEAR(run.facts.inter_token_latency.sum, 0.04, 1e-9);
  EXPECT_NEAR(run.facts.finished.e2e_latency.sum, 0.56, 1e-9);
  EXPECT_NEAR(run.facts.finished.queued_time.sum, 0, 1e-9);
  EXPECT_NEAR(run.facts.finished.prefill_time.sum, 0.02, 1e-9);
  EXPECT_EQ(run.facts.iteration_tokens.count(), 3);
  EXPECT_EQ(run.facts.scheduler->running, 0);
  EXPECT_NEAR(run.facts.stage_gen_time.sum, 0.06, 1e-9);
}

TEST(ar_scheduler, is_due_at_the_pace_of_its_listener) {
  sequence_group reader(text_task(1, "q"), 0);
  auto& one = *reader.choices.emplace_back(std::make_unique<sequence>(reader, 0, nullptr, 1'000'000));
  EXPECT_EQ(due(one), 1'200'000);
  one.tokens.push_back(1);
  one.first_token = 1'050'000;
  EXPECT_EQ(due(one), 1'150'000);
  reader.task.for_next = true;
  EXPECT_EQ(due(one), 1'200'000) << "a voice waits for a first clause";
  one.tokens.resize(one.prompt + 30);
  EXPECT_GT(due(one), 6'000'000);
}

TEST(ar_scheduler, names_the_most_urgent_deadline_of_its_batch) {
  auto run = harness(limits());
  run.open(text_task(1, "a"));
  run.step();
  run.now += 5'000'000;
  run.open(text_task(2, "b"));
  EXPECT_LT(run.plans->plan(run.now).deadline, run.now) << "the older one is late";
}

} // namespace
} // namespace omni::test
