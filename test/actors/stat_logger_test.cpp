#include "actors/stat_logger.hpp"

#include "test/actors/pipeline_fixture.hpp"

#include <gmock/gmock.h>

namespace omni::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

// -- nothing waits for it ---------------------------------------------------------------------------------------------

class stuck_stat_logger : public pipeline_fixture {};

TEST_F(stuck_stat_logger, delays_nobody_and_gets_two_reports_per_sender) {
  statistics = true;
  heard_by_logger.stuck = true;
  start();
  std::vector<running_request> all;
  for (int i = 0; i < 5; ++i) all.push_back(submit(chat("hello", true, true)));
  run();
  for (const auto& one : all) {
    EXPECT_EQ(one.heard->text(), answer("hello", 8));
    EXPECT_EQ(one.heard->sound(), expected_sound(answer("hello", 8), options));
  }
  EXPECT_EQ(heard_by_logger.unanswered.size(), 8u) << "two each of three replicas and the orchestrator";
}

TEST_F(stuck_stat_logger, loses_no_count_when_it_goes_on) {
  statistics = true;
  heard_by_logger.stuck = true;
  start();
  for (int i = 0; i < 5; ++i) submit(chat("hello", true, true));
  run();
  caf::anon_send(logger(), print_stats{}); // wakes the stand-in
  run();
  const auto& thinker = heard_by_logger.reports[{0, 0}];
  EXPECT_EQ(thinker.generation_tokens, 40);
  EXPECT_EQ(thinker.prompt.total(), 25);
  EXPECT_EQ(thinker.finished.by_reason[std::size_t(finished_as::length)], 5);
  EXPECT_EQ(thinker.time_to_first_token.count(), 5);
  EXPECT_EQ(thinker.inter_token_latency.count(), 35);
  const auto frames = std::int64_t(5 * expected_sound(answer("hello", 8), options).size());
  EXPECT_EQ((heard_by_logger.reports[{2, 0}].audio.frames), frames);
  EXPECT_EQ(heard_by_logger.pipeline.success[std::size_t(finished_as::length)], 5);
  const auto edges = heard_by_logger.reports[{1, 0}].transfers;
  ASSERT_EQ(edges.size(), 2u) << "what it got and what it handed on";
  EXPECT_GT(edges[0].in_flight.count(), 0);
  EXPECT_GT(edges[1].size.sum, 0);
}

TEST_F(stuck_stat_logger, is_not_missed_when_it_has_died) {
  statistics = true;
  start({1, 0, 0});
  const auto one = submit(chat("hello", true, false, 40));
  run_until([&] { return one.heard->pieces() > 2; });
  caf::anon_send_exit(logger(), caf::exit_reason::kill);
  run();
  EXPECT_EQ(one.heard->text(), answer("hello", 40));
}

// -- the actor itself -------------------------------------------------------------------------------------------------

class stat_logger_test : public actor_fixture {
protected:
  void start(bool engines = true) {
    stat_logger_options options;
    options.statistics.model_name = "tiny";
    options.statistics.engines = engines;
    options.wall_s = [] { return 1.7e9; };
    options.process = [] { return process_facts{}; };
    options.print = [this](const log_line& line) {
      if (!line.idle) lines.push_back(line.text);
    };
    logger = keep(system.spawn(stat_logger_behavior, std::move(options)));
    register_engine first;
    first.engine = 0;
    caf::anon_send(logger, register_engines{{first}});
  }
  void report(std::int64_t tokens) {
    engine_report what;
    what.generation_tokens = tokens;
    caf::anon_send(logger, what);
    run();
  }
  std::string page() { return ask<metrics_page>(logger, get_metrics{}).text; }

  std::vector<std::string> lines;
  stat_logger_actor logger;
};

TEST_F(stat_logger_test, prints_once_per_interval_while_something_goes_on) {
  start();
  report(50);
  advance(9s);
  EXPECT_TRUE(lines.empty());
  advance(1s);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("Engine 000: "));
  EXPECT_THAT(lines[0], HasSubstr("Avg generation throughput: 5.0 tokens/s"));
  advance(10s);
  EXPECT_EQ(lines.size(), 2u) << "one more line with zeros";
  advance(10s);
  advance(10s);
  EXPECT_EQ(lines.size(), 2u);
}

TEST_F(stat_logger_test, prints_when_it_is_told_to) {
  start();
  report(50);
  advance(2s);
  caf::anon_send(logger, print_stats{});
  run();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("25.0 tokens/s"));
}

TEST_F(stat_logger_test, shows_what_was_reported_on_its_page) {
  start();
  report(50);
  report(7);
  EXPECT_THAT(page(), HasSubstr("vllm:generation_tokens_total{model_name=\"tiny\",replica=\"0\",stage=\"0\"} 57.0"));
}

TEST_F(stat_logger_test, has_no_engine_families_without_statistics) {
  start(false);
  EXPECT_THAT(page(), Not(HasSubstr("vllm:")));
  advance(60s);
  EXPECT_TRUE(lines.empty());
}

TEST_F(stat_logger_test, counts_reports_of_a_replica_that_nobody_registered) {
  start();
  engine_report stranger;
  stranger.replica = {9};
  caf::anon_send(logger, stranger);
  run();
  EXPECT_THAT(page(), HasSubstr("unknown_engine"));
  EXPECT_THAT(page(), Not(HasSubstr("replica=\"9\"")));
}

} // namespace
} // namespace omni::test
