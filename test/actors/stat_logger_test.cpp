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
    options.process = [this] {
      ++pages_taken;
      return process_facts{};
    };
    options.print = [this](const log_line& line) {
      if (!line.idle) lines.push_back(line.text);
    };
    options.warn = [this](const std::string& sentence) { warnings.push_back(sentence); };
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

  void register_one(int stage, int replica, std::optional<int> engine = {}) {
    register_engine one;
    one.stage.value = stage;
    one.replica.value = replica;
    one.engine = engine;
    caf::anon_send(logger, register_engines{{one}});
    run();
  }

  std::vector<std::string> lines;
  std::vector<std::string> warnings;
  int pages_taken = 0;
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

TEST_F(stat_logger_test, drops_reports_of_a_replica_that_nobody_registered_counts_them_and_says_so_once) {
  start();
  engine_report stranger;
  stranger.replica = {9};
  for (int i = 0; i < 3; ++i) caf::anon_send(logger, stranger);
  run();
  EXPECT_THAT(page(), HasSubstr("omni_serve:bad_values_total{kind=\"unknown_engine\",model_name=\"tiny\"} 3.0"));
  EXPECT_THAT(page(), Not(HasSubstr("replica=\"9\"")));
  ASSERT_EQ(warnings.size(), 1u);
  EXPECT_THAT(warnings[0], HasSubstr("Replica 9 of stage 0"));
}

TEST_F(stat_logger_test, shows_a_replica_as_healthy_from_its_registration_until_it_departs) {
  start();
  EXPECT_THAT(page(), HasSubstr("vllm:engine_healthy{replica=\"0\",stage=\"0\"} 1.0"));
  caf::anon_send(logger, engine_departed{{0}, {0}});
  run();
  EXPECT_THAT(page(), HasSubstr("vllm:engine_healthy{replica=\"0\",stage=\"0\"} 0.0"));
  register_one(0, 0);
  EXPECT_THAT(page(), HasSubstr("vllm:engine_healthy{replica=\"0\",stage=\"0\"} 1.0")) << "it is back";
}

TEST_F(stat_logger_test, a_repeated_registration_changes_nothing) {
  start();
  report(50);
  const auto before = page();
  register_one(0, 0, 0);
  register_one(0, 0);
  EXPECT_EQ(page(), before);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(stat_logger_test, a_replica_with_another_index_or_anothers_index_is_refused_in_a_sentence) {
  start();
  report(50);
  const auto before = page();
  register_one(0, 0, 5);
  register_one(1, 0, 0);
  EXPECT_EQ(page(), before);
  ASSERT_EQ(warnings.size(), 2u);
  EXPECT_THAT(warnings[0], HasSubstr("stage 0 replica 0 as engine 5: it is engine 0"));
  EXPECT_THAT(warnings[1], HasSubstr("stage 1 replica 0 as engine 0: that index belongs to stage 0 replica 0"));
}

TEST_F(stat_logger_test, a_late_replica_is_on_the_page_before_its_first_report_and_moves_nobody) {
  start();
  report(50);
  register_one(0, 7);
  EXPECT_THAT(page(), HasSubstr("vllm:generation_tokens_total{model_name=\"tiny\",replica=\"0\",stage=\"0\"} 50.0"));
  EXPECT_THAT(page(), HasSubstr("vllm:generation_tokens_total{model_name=\"tiny\",replica=\"7\",stage=\"0\"} 0.0"));
  EXPECT_THAT(page(), HasSubstr("vllm:engine_sleep_state{model_name=\"tiny\",replica=\"7\",sleep_state=\"awake\","
                                "stage=\"0\"} 1.0"));
}

TEST_F(stat_logger_test, a_page_shows_the_moment_at_which_it_was_asked_for_and_holds_up_no_report) {
  start();
  report(50);
  std::string asked_early;
  later<metrics_page>(logger, get_metrics{}, [&](metrics_page found) { asked_early = std::move(found.text); });
  engine_report more;
  more.generation_tokens = 7;
  pages_taken = 0;
  run_until([&] { return pages_taken == 1; });
  EXPECT_TRUE(asked_early.empty()) << "its text is being made elsewhere";
  caf::anon_send(logger, more);
  run();
  const std::string series = "vllm:generation_tokens_total{model_name=\"tiny\",replica=\"0\",stage=\"0\"} ";
  EXPECT_THAT(asked_early, HasSubstr(series + "50.0"));
  EXPECT_THAT(page(), HasSubstr(series + "57.0"));
}

TEST_F(stat_logger_test, prints_where_the_time_of_a_request_went) {
  start();
  request_timeline one;
  one.name = "chatcmpl-7";
  one.total_s = 1.25;
  caf::anon_send(logger, one);
  run();
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_THAT(lines[0], HasSubstr("[OmniTiming] req=chatcmpl-7 total=1250.000ms"));
}

// -- do_log_stats -----------------------------------------------------------------------------------------------------

TEST_F(stat_logger_test, asking_for_lines_is_one_message_that_returns_at_once) {
  start();
  report(50);
  advance(2s);
  ask_for_lines(logger);
  EXPECT_TRUE(lines.empty()) << "nothing is printed by the one who asks";
  run();
  EXPECT_EQ(lines.size(), 1u);
}

TEST_F(stat_logger_test, asking_for_lines_does_nothing_without_statistics_or_before_they_begin) {
  ask_for_lines({});
  EXPECT_FALSE(has_messages());
  start(false);
  run();
  ask_for_lines(logger);
  run();
  EXPECT_TRUE(lines.empty());
}

TEST_F(stat_logger_test, asking_for_lines_does_nothing_when_the_logger_is_gone) {
  start();
  report(50);
  caf::anon_send_exit(logger, caf::exit_reason::user_shutdown);
  run();
  ask_for_lines(logger);
  EXPECT_FALSE(has_messages());
  EXPECT_TRUE(lines.empty());
}

} // namespace
} // namespace omni::test
