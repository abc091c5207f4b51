#include "test/actors/pipeline_fixture.hpp"

#include <algorithm>
#include <cstring>

namespace omni::test {
namespace {

using namespace std::chrono_literals;

/// What a replica tells the stat logger of its steps, and when.
class step_reports : public pipeline_fixture {
protected:
  step_reports() { statistics = true; }
  auto reports_of(const std::string& replica) {
    return std::ranges::count(heard_by_logger.events, "report " + replica);
  }
  /// Hands a piece of ten frames straight to the vocoder.
  void feed_vocoder(request_id id, std::uint32_t number) {
    auto piece = std::make_shared<payload>();
    piece->what = payload::kind::rows;
    piece->rows = 10;
    piece->width = 1;
    const std::vector<float> values(10, 1.0F);
    piece->bytes.resize(values.size() * sizeof(float));
    std::memcpy(piece->bytes.data(), values.data(), piece->bytes.size());
    caf::anon_send(replicas.at({2, 0}), chunk{id, 0, {1}, {0}, number, piece, false, 0});
    run();
  }
};

TEST_F(step_reports, the_first_step_is_reported_at_once) {
  start({1, 0, 0});
  const auto one = submit(chat("hello", true, false, 100));
  run_until([&] { return reports_of("0/0") == 1; });
  EXPECT_LE(one.heard->pieces(), 2u);
  EXPECT_EQ((heard_by_logger.reports[{0, 0}].scheduler->running), 1);
}

TEST_F(step_reports, steps_are_reported_ten_times_a_second_and_none_is_lost) {
  options.before_step = [this](const fake_step&) { pass(10ms); };
  start({1, 0, 0});
  submit(chat("hello", true, false, 100));
  run();
  EXPECT_GE(reports_of("0/0"), 10);
  EXPECT_LE(reports_of("0/0"), 13) << "of 100 steps in one second";
  const auto& sum = heard_by_logger.reports[{0, 0}];
  EXPECT_EQ(sum.generation_tokens, 100);
  EXPECT_EQ(sum.iteration_tokens.count(), 100);
  EXPECT_EQ(sum.inter_token_latency.count(), 99);
  EXPECT_EQ(sum.scheduler->running, 0);
}

TEST_F(step_reports, what_a_request_leaves_is_reported_before_its_end_is_told) {
  start({1, 0, 0});
  const auto one = submit(chat("hello", true, false, 5));
  run_until([&] { return one.heard->ends() == 1; });
  EXPECT_EQ((heard_by_logger.reports[{0, 0}].finished.by_reason[std::size_t(finished_as::length)]), 1);
  EXPECT_EQ((heard_by_logger.reports[{0, 0}].generation_tokens), 5);
}

TEST_F(step_reports, the_load_after_an_abort_is_reported_at_once) {
  start({1, 0, 0});
  const auto one = submit(chat("hello", true, false, 100));
  run_until([&] { return one.heard->pieces() > 2; });
  abort(one.id);
  run();
  EXPECT_EQ((heard_by_logger.reports[{0, 0}].scheduler->running), 0);
  EXPECT_EQ((heard_by_logger.reports[{0, 0}].finished.by_reason[std::size_t(finished_as::abort)]), 1);
}

TEST_F(step_reports, facts_go_out_on_their_turn_although_no_step_follows) {
  start({1, 1, 1});
  const auto answers = keep(system.spawn(sink_behavior, std::shared_ptr<sink>(std::make_shared<recording_sink>()), 1));
  request what;
  what.want_audio = true;
  caf::anon_send(replicas.at({2, 0}), open_request{stage_task{{99}, 0, what, 0, true, false}, {}, answers});
  feed_vocoder({99}, 0);
  EXPECT_EQ(reports_of("2/0"), 1);
  const double heard = heard_by_logger.reports[{2, 0}].units;
  feed_vocoder({99}, 1);
  EXPECT_EQ(reports_of("2/0"), 1) << "it is too early";
  advance(100ms);
  EXPECT_EQ(reports_of("2/0"), 2);
  EXPECT_GT((heard_by_logger.reports[{2, 0}].units), heard);
  EXPECT_GE((heard_by_logger.reports[{2, 0}].iteration_tokens.count()), 2) << "one per step with outputs";
}

TEST_F(step_reports, a_replica_that_fails_tells_what_it_had_done) {
  options.before_step = [](const fake_step& step) {
    if (step.number == 5) throw std::runtime_error("The device fell off.");
  };
  start({1, 0, 0});
  submit(chat("hello", true, false, 100));
  run_until([&] { return std::ranges::count(heard_by_logger.events, "departed 0/0") == 1; });
  EXPECT_GE((heard_by_logger.reports[{0, 0}].generation_tokens), 4);
  const auto& events = heard_by_logger.events;
  EXPECT_LT(std::ranges::find(events, "report 0/0"), std::ranges::find(events, "departed 0/0"));
}

// -- the timing line --------------------------------------------------------------------------------------------------

TEST_F(step_reports, no_timing_is_told_unless_it_was_asked_for) {
  start();
  submit(chat("hello", true, true));
  run();
  EXPECT_TRUE(heard_by_logger.timelines.empty());
}

TEST_F(step_reports, the_timing_of_each_request_tells_its_stages_and_hand_overs) {
  config.log_request_timing = true;
  options.before_step = [this](const fake_step&) { pass(10ms); };
  pass(1000ms);
  start();
  auto what = chat("hello", true, true);
  what.name = "chatcmpl-7";
  what.received = 1'000'000 - 250'000;
  submit(what);
  run();
  ASSERT_EQ(heard_by_logger.timelines.size(), 1u);
  const auto& line = heard_by_logger.timelines[0];
  EXPECT_EQ(line.name, "chatcmpl-7");
  EXPECT_GE(line.preprocess_s, 0.25);
  EXPECT_NEAR(line.total_s, line.preprocess_s + line.engine_s, 1e-9);
  ASSERT_EQ(line.stages.size(), 3u);
  EXPECT_GE(line.stages[0].seconds, 0.08) << "eight steps";
  EXPECT_LE(line.stages[0].seconds, line.engine_s);
  EXPECT_GT(line.stages[2].seconds, 0);
  ASSERT_EQ(line.transfers.size(), 2u);
  EXPECT_EQ(line.transfers[0].from.value, 0);
  EXPECT_EQ(line.transfers[0].to.value, 1);
}

// -- arrival ----------------------------------------------------------------------------------------------------------

TEST_F(step_reports, latencies_begin_when_a_request_came_in_and_not_when_it_was_handed_in) {
  pass(10'000ms);
  start({1, 0, 0});
  auto what = chat("hello");
  what.received = 7'000'000;
  submit(what);
  run();
  const auto& sum = heard_by_logger.reports[{0, 0}];
  EXPECT_GE(sum.time_to_first_token.sum, 3);
  EXPECT_GE(sum.finished.e2e_latency.sum, 3);
  EXPECT_GE(heard_by_logger.pipeline.e2e_latency.sum, 3);
  EXPECT_LT(heard_by_logger.pipeline.queue_wait.sum, 3) << "that one begins when it is handed in";
}

} // namespace
} // namespace omni::test
