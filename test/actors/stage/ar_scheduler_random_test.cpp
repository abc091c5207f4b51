#include "actors/stage/ar_scheduler.hpp"

#include "test/actors/stage/scheduler_harness.hpp"

#include <random>

namespace omni::test {
namespace {

struct job {
  std::uint64_t id;
  std::string prompt;
  sampling_params sampling;
};

/// Prompts that often share a beginning, of all lengths.
job random_job(std::uint64_t id, std::mt19937& random) {
  static const std::string stems[] = {"You are a helpful assistant. ", "Once upon a time ", ""};
  job made{id, stems[random() % 3], {}};
  for (std::size_t left = random() % 20; left > 0 || made.prompt.empty(); left -= left > 0)
    made.prompt.push_back(char('a' + random() % 3));
  made.sampling.temperature = random() % 2 == 0 ? 0.0F : 1.0F;
  made.sampling.seed = random() % 5;
  made.sampling.max_tokens = std::int32_t(1 + random() % 24);
  made.sampling.ignore_eos = random() % 2 == 0;
  return made;
}

void check_budgets(const batch& work, const ar_limits& limits) {
  std::size_t tokens = 0;
  std::set<sequence_slot> slots;
  for (const auto& item : work.items) {
    tokens += item.tokens.size();
    ASSERT_FALSE(item.tokens.empty());
    ASSERT_TRUE(slots.insert(item.slot).second) << "a sequence is in a batch once";
    const auto end = std::size_t(item.position) + item.tokens.size();
    ASSERT_EQ(item.block_table.size(), (end + std::size_t(limits.block_size) - 1) / std::size_t(limits.block_size));
  }
  ASSERT_LE(tokens, std::size_t(limits.max_num_batched_tokens));
  ASSERT_LE(work.items.size(), std::size_t(limits.max_num_seqs));
}

class random_traffic : public testing::TestWithParam<int> {};

/// Whatever arrives when, whatever is aborted, preempted or found in the cache: each sequence that ends says exactly
/// what it would have said alone.
TEST_P(random_traffic, changes_no_output) {
  std::mt19937 random{std::uint32_t(GetParam())};
  fake_options options;
  options.blocks = std::int32_t(18 + random() % 30);
  options.block_size = std::int32_t(2 + random() % 6);
  ar_limits limits;
  limits.blocks = options.blocks;
  limits.block_size = options.block_size;
  limits.max_model_len = 64;
  limits.max_num_seqs = std::int32_t(1 + random() % 6);
  limits.max_num_batched_tokens = limits.max_num_seqs + std::int32_t(random() % 20);
  limits.prefix_caching = random() % 4 != 0;
  limits.eos_ids = {fake_eos};
  scheduler_harness run(std::make_unique<ar_scheduler>(limits, &fake_tokenizer()), "thinker", options);
  run.on_batch = [&](const batch& work) { check_budgets(work, limits); };

  std::map<std::uint64_t, job> jobs;
  std::set<std::uint64_t> aborted;
  std::uint64_t next = 1;
  while (next <= 60 || run.plans->has_work()) {
    if (next <= 60 && random() % 3 == 0) {
      auto one = random_job(next++, random);
      auto task = text_task(one.id, one.prompt);
      task.what.sampling = one.sampling;
      run.open(task);
      jobs.emplace(one.id, std::move(one));
    }
    if (random() % 40 == 0 && next > 1) {
      const auto id = 1 + random() % (next - 1);
      if (!run.results.contains(id)) aborted.insert(id);
      run.end({id});
    }
    if (run.plans->has_work()) run.step();
  }
  const auto room = std::size_t(std::min(limits.max_model_len, options.blocks * options.block_size));
  for (const auto& [id, one] : jobs) {
    ASSERT_TRUE(run.results.contains(id));
    if (one.prompt.size() >= room) {
      EXPECT_EQ(run.results.at(id).problem->code, errc::context_too_long);
      continue;
    }
    const auto count = std::min(std::size_t(one.sampling.max_tokens), room - one.prompt.size());
    const auto expected = expected_tokens(fake_tokens(one.prompt), count, one.sampling);
    const auto& heard = run.of(id).tokens;
    if (aborted.contains(id)) {
      ASSERT_LE(heard.size(), expected.size());
      EXPECT_TRUE(std::equal(heard.begin(), heard.end(), expected.begin()));
    } else {
      EXPECT_EQ(heard, expected) << "request " << id;
    }
  }
  EXPECT_TRUE(run.slots.empty());
  EXPECT_EQ(static_cast<ar_scheduler&>(*run.plans).blocks().free(), options.blocks);
  EXPECT_EQ(run.facts.prefix_cache.requests, limits.prefix_caching ? run.facts.prefix_cache.requests : 0);
  EXPECT_EQ(run.facts.bad, bad_value_counts{});
}

INSTANTIATE_TEST_SUITE_P(seeds, random_traffic, testing::Range(1, 61));

} // namespace
} // namespace omni::test
