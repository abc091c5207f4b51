#include "test/actors/pipeline_fixture.hpp"

#include <gmock/gmock.h>

namespace omni::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

class orchestrator : public pipeline_fixture {};

// -- which stages -----------------------------------------------------------------------------------------------------

TEST_F(orchestrator, answers_a_text_request_with_the_thinker_alone) {
  start({1, 0, 0}); // the voice stages are not needed, so they need no replica
  const auto one = submit(chat("hello"));
  run();
  EXPECT_EQ(one.heard->text(), answer("hello", 8));
  EXPECT_EQ(one.heard->ends(), 1);
  EXPECT_FALSE(one.heard->problem());
  EXPECT_THAT(one.heard->finishes(), ElementsAre(std::pair(modality::text, finish_reason::length)));
}

TEST_F(orchestrator, answers_text_and_audio_with_all_stages) {
  start();
  const auto one = submit(chat("hello", true, true));
  run();
  EXPECT_EQ(one.heard->text(), answer("hello", 8));
  EXPECT_EQ(one.heard->sound(), expected_sound(answer("hello", 8), options));
  EXPECT_EQ(one.heard->ends(), 1);
  EXPECT_EQ(one.heard->late(), 0);
  EXPECT_EQ(one.heard->finishes().size(), 2u);
}

TEST_F(orchestrator, keeps_the_text_to_itself_when_only_audio_is_asked_for) {
  start();
  const auto one = submit(chat("hello", false, true));
  run();
  EXPECT_EQ(one.heard->text(), "");
  EXPECT_EQ(one.heard->sound(), expected_sound(answer("hello", 8), options));
  EXPECT_EQ(one.heard->ends(), 1);
}

TEST_F(orchestrator, speaks_a_text_without_the_thinker) {
  start({0, 1, 1});
  request what;
  what.text = "say this";
  what.want_text = false;
  what.want_audio = true;
  const auto one = submit(what);
  run();
  EXPECT_EQ(one.heard->sound(), expected_sound("say this", options));
  EXPECT_EQ(one.heard->ends(), 1);
}

TEST_F(orchestrator, ends_a_request_only_after_all_of_its_choices) {
  start({1, 0, 0});
  auto what = chat("hello");
  what.n = 3;
  what.sampling.temperature = 1;
  const auto one = submit(what);
  run();
  EXPECT_EQ(one.heard->finishes().size(), 3u);
  EXPECT_NE(one.heard->text(0), one.heard->text(1));
  EXPECT_EQ(one.heard->ends(), 1);
}

// -- routing and admission --------------------------------------------------------------------------------------------

TEST_F(orchestrator, gives_each_request_to_the_replica_with_the_least_work) {
  start({3, 0, 0});
  std::vector<running_request> all;
  for (int i = 0; i < 6; ++i) all.push_back(submit(chat("hello")));
  run_until([&] { return all.back().heard->pieces() > 0; });
  for (int replica = 0; replica < 3; ++replica) EXPECT_LE(load(0, replica), 2);
  run();
  for (const auto& one : all) EXPECT_EQ(one.heard->text(), answer("hello", 8));
}

TEST_F(orchestrator, refuses_at_once_what_exceeds_the_admission_limit) {
  config.max_num_requests = 2;
  start({1, 0, 0});
  const auto a = submit(chat("a"));
  const auto b = submit(chat("b"));
  const auto c = submit(chat("c"));
  run_until([&] { return c.heard->ends() == 1; });
  EXPECT_EQ(c.heard->code(), errc::overloaded);
  EXPECT_EQ(a.heard->ends() + b.heard->ends(), 0) << "it was not made to wait for them";
  run();
  const auto d = submit(chat("d"));
  run();
  EXPECT_FALSE(d.heard->problem());
  EXPECT_EQ(d.heard->text(), answer("d", 8));
}

TEST_F(orchestrator, lets_requests_wait_for_a_replica_and_serves_them_when_one_joins) {
  start({0, 0, 0});
  const auto one = submit(chat("hello"));
  run();
  advance(9s);
  EXPECT_EQ(one.heard->ends(), 0);
  add(0);
  EXPECT_EQ(one.heard->text(), answer("hello", 8));
  advance(5s);
  EXPECT_EQ(one.heard->ends(), 1);
  EXPECT_FALSE(one.heard->problem());
}

TEST_F(orchestrator, gives_up_after_the_dispatch_timeout_and_names_the_stage) {
  start({1, 0, 1});
  const auto text = submit(chat("hello"));
  const auto both = submit(chat("hello", true, true));
  run();
  EXPECT_EQ(text.heard->ends(), 1) << "a text request does not need the stage";
  advance(9s);
  EXPECT_EQ(both.heard->ends(), 0);
  advance(1s);
  EXPECT_EQ(both.heard->code(), errc::no_replica);
  EXPECT_THAT(both.heard->problem()->message, HasSubstr("Stage 1 (talker)"));
  EXPECT_EQ(load(0, 0), 0) << "no stage was bound before all could be";
}

TEST_F(orchestrator, counts_who_waits_for_a_replica_as_admitted) {
  config.max_num_requests = 1;
  start({0, 0, 0});
  const auto a = submit(chat("a"));
  const auto b = submit(chat("b"));
  run();
  EXPECT_EQ(b.heard->code(), errc::overloaded);
  EXPECT_EQ(a.heard->ends(), 0);
}

// -- abort and failure of one request ---------------------------------------------------------------------------------

TEST_F(orchestrator, frees_all_that_an_aborted_request_holds_and_nothing_else) {
  start();
  const auto one = submit(chat("hello", true, true, 100));
  const auto other = submit(chat("other", true, true));
  run_until([&] { return one.heard->pieces() > 2; });
  abort(one.id);
  run_until([&] { return one.heard->ends() == 1; });
  EXPECT_EQ(one.heard->code(), errc::aborted);
  run();
  for (int stage = 0; stage < 3; ++stage) EXPECT_EQ(load(stage, 0), 0);
  EXPECT_EQ(one.heard->ends(), 1);
  EXPECT_EQ(one.heard->late(), 0);
  EXPECT_EQ(other.heard->text(), answer("other", 8));
  EXPECT_EQ(other.heard->sound(), expected_sound(answer("other", 8), options));
}

TEST_F(orchestrator, frees_the_kv_blocks_of_an_aborted_request_within_one_step) {
  statistics = true;
  int steps = 0;
  options.before_step = [&](const fake_step&) { ++steps; };
  start({1, 0, 0});
  const auto one = submit(chat("hello", true, false, 100));
  run_until([&] { return one.heard->pieces() > 2; });
  EXPECT_GT((heard_by_logger.reports[{0, 0}].scheduler->kv_cache_usage), 0);
  const int before = steps;
  abort(one.id);
  run();
  EXPECT_LE(steps, before + 2) << "one while the orchestrator hears of it, one that was posted";
  EXPECT_EQ((heard_by_logger.reports[{0, 0}].scheduler->kv_cache_usage), 0);
  EXPECT_EQ((heard_by_logger.reports[{0, 0}].scheduler->running), 0);
}

TEST_F(orchestrator, ignores_the_abort_of_a_request_that_it_does_not_know) {
  start({1, 0, 0});
  abort({77});
  const auto one = submit(chat("hello"));
  run();
  abort(one.id);
  run();
  EXPECT_EQ(one.heard->ends(), 1);
  EXPECT_FALSE(one.heard->problem());
}

TEST_F(orchestrator, aborts_a_request_that_waits_for_a_replica) {
  start({0, 0, 0});
  const auto one = submit(chat("hello"));
  run();
  abort(one.id);
  run();
  EXPECT_EQ(one.heard->code(), errc::aborted);
  add(0);
  EXPECT_EQ(one.heard->pieces(), 0);
}

TEST_F(orchestrator, fails_a_request_that_a_stage_cannot_accept_and_frees_the_others) {
  start();
  auto what = chat("hello", true, true, 100);
  what.voice.speaker = "nobody";
  const auto one = submit(what);
  const auto other = submit(chat("other", true, true));
  run();
  EXPECT_EQ(one.heard->code(), errc::invalid_request);
  EXPECT_EQ(one.heard->problem()->param, "voice");
  EXPECT_THAT(one.heard->problem()->message, HasSubstr("nobody"));
  EXPECT_EQ(other.heard->sound(), expected_sound(answer("other", 8), options));
  for (int stage = 0; stage < 3; ++stage) {
    EXPECT_EQ(load(stage, 0), 0);
    EXPECT_EQ(state(stage, 0), replica_state::serving);
  }
}

// -- the whole engine -------------------------------------------------------------------------------------------------

TEST_F(orchestrator, admits_nothing_while_it_drains_and_answers_when_all_have_ended) {
  start({1, 0, 0});
  const auto one = submit(chat("hello", true, false, 40));
  run_until([&] { return one.heard->pieces() > 0; });
  bool drained = false;
  later<engine_drained>(pipeline_fixture::orchestrator, drain_engine{}, [&](engine_drained) { drained = true; });
  run_until([&] { return one.heard->pieces() > 10; });
  const auto late = submit(chat("late"));
  run_until([&] { return late.heard->ends() == 1; });
  EXPECT_EQ(late.heard->code(), errc::shutting_down);
  EXPECT_FALSE(drained);
  run();
  EXPECT_TRUE(drained);
  EXPECT_EQ(one.heard->text(), answer("hello", 40));
}

TEST_F(orchestrator, answers_a_drain_at_once_when_nothing_runs) {
  start({1, 0, 0});
  bool drained = false;
  later<engine_drained>(pipeline_fixture::orchestrator, drain_engine{}, [&](engine_drained) { drained = true; });
  run();
  EXPECT_TRUE(drained);
}

TEST_F(orchestrator, tells_every_request_when_it_stops) {
  start();
  const auto runs = submit(chat("hello", true, true, 100));
  run_until([&] { return runs.heard->pieces() > 0; });
  const auto waits = submit(chat("again"));
  caf::anon_send(pipeline_fixture::orchestrator, stop_engine{});
  const auto late = submit(chat("late"));
  run();
  EXPECT_EQ(runs.heard->code(), errc::shutting_down);
  EXPECT_EQ(waits.heard->code(), errc::shutting_down);
  EXPECT_EQ(runs.heard->ends(), 1);
  EXPECT_EQ(waits.heard->ends(), 1);
  EXPECT_EQ(late.heard->ends(), 0) << "its sink is told by itself, when nobody holds it any more";
}

// -- statistics of whole requests -------------------------------------------------------------------------------------

TEST_F(orchestrator, reports_what_becomes_of_requests) {
  statistics = true;
  config.max_num_requests = 2;
  start();
  const auto one = submit(chat("hello", true, true));
  const auto gone = submit(chat("gone", true, true, 100));
  submit(chat("too many"));
  run_until([&] { return gone.heard->pieces() > 0; });
  abort(gone.id);
  run();
  request speech;
  speech.text = "say this";
  speech.want_text = false;
  speech.want_audio = true;
  submit(speech);
  run();
  const auto& facts = heard_by_logger.pipeline;
  EXPECT_EQ(facts.success[std::size_t(finished_as::length)], 1);
  EXPECT_EQ(facts.success[std::size_t(finished_as::stop)], 1);
  EXPECT_EQ(facts.success[std::size_t(finished_as::abort)], 1);
  EXPECT_EQ(facts.failed[std::size_t(failed_as::client_abort)], 1);
  EXPECT_EQ(facts.rejected[std::size_t(rejected_as::max_num_queued_reqs)], 1);
  EXPECT_EQ(facts.e2e_latency.count(), 2);
  EXPECT_EQ(facts.queue_wait.count(), 3);
  EXPECT_EQ(facts.prompt_tokens, 5);
  EXPECT_EQ(facts.generation_tokens, 8) << "of the aborted one nothing had ended";
  EXPECT_EQ(facts.speech_completed, 1);
  EXPECT_EQ(facts.running, 0);
  EXPECT_EQ(facts.waiting, 0);
}

TEST_F(orchestrator, tells_apart_clients_that_left_from_those_that_asked_for_the_end) {
  statistics = true;
  start();
  request speech;
  speech.text = "say this";
  speech.want_text = false;
  speech.want_audio = true;
  for (const bool client_left : {true, false}) {
    for (const auto& one : {submit(chat("gone", true, true, 100)), submit(speech)}) abort(one.id, client_left);
    run();
  }
  const auto& facts = heard_by_logger.pipeline;
  EXPECT_EQ(facts.failed[std::size_t(failed_as::client_disconnect)], 2);
  EXPECT_EQ(facts.failed[std::size_t(failed_as::client_abort)], 2);
  EXPECT_EQ(facts.speech_aborted[std::size_t(speech_aborted_as::closed)], 1);
  EXPECT_EQ(facts.speech_aborted[std::size_t(speech_aborted_as::cancelled)], 1);
}

} // namespace
} // namespace omni::test
