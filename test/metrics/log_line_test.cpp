#include "metrics/log_line.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace omni {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

engine_report generated(std::int64_t tokens) {
  engine_report report;
  report.generation_tokens = tokens;
  return report;
}

TEST(engine_log, the_first_line_after_start_is_idle) {
  engine_log log(0, "CPU", stage_unit::tokens, 100);
  const auto lines = log.log(110);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].idle);
  EXPECT_EQ(lines[0].text, "Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, "
                           "Running: 0 reqs, Waiting: 0 reqs, CPU KV cache usage: 0.0%");
}

TEST(engine_log, one_line_with_zeros_follows_work_and_then_it_is_silent) {
  engine_log log(0, "CPU", stage_unit::tokens, 0);
  log.record(generated(50));
  EXPECT_FALSE(log.log(10)[0].idle);
  EXPECT_FALSE(log.log(20)[0].idle);
  EXPECT_TRUE(log.log(30)[0].idle);
}

TEST(engine_log, throughput_is_over_the_time_since_the_last_line) {
  engine_log log(12, "CPU", stage_unit::tokens, 0);
  log.record(generated(50));
  EXPECT_THAT(log.log(10)[0].text, HasSubstr("Avg generation throughput: 5.0 tokens/s"));
  log.record(generated(50));
  EXPECT_THAT(log.log(12)[0].text, HasSubstr("Avg generation throughput: 25.0 tokens/s"));
}

TEST(engine_log, without_any_time_gone_by_throughput_is_zero) {
  engine_log log(0, "CPU", stage_unit::tokens, 5);
  log.record(generated(50));
  EXPECT_THAT(log.log(5)[0].text, HasSubstr("Avg generation throughput: 0.0 tokens/s"));
  log.record(generated(50));
  EXPECT_THAT(log.log(4)[0].text, HasSubstr("Avg generation throughput: 0.0 tokens/s"));
}

TEST(engine_log, only_computed_prompt_tokens_are_prompt_throughput) {
  engine_log log(0, "CPU", stage_unit::tokens, 0);
  engine_report report;
  report.prompt = {20, 500, 300};
  log.record(report);
  EXPECT_THAT(log.log(10)[0].text, HasSubstr("Avg prompt throughput: 2.0 tokens/s"));
}

TEST(engine_log, preemptions_of_the_interval_are_still_there_when_the_line_is_built) {
  engine_log log(0, "CPU", stage_unit::tokens, 0);
  engine_report report;
  report.preemptions = 3;
  log.record(report);
  EXPECT_THAT(log.log(10)[0].text, HasSubstr("Preemptions: 3"));
  EXPECT_THAT(log.log(20)[0].text, Not(HasSubstr("Preemptions")));
}

TEST(engine_log, a_feature_used_after_an_idle_stretch_is_measured_over_its_own_interval) {
  engine_log log(0, "CPU", stage_unit::tokens, 0);
  log.log(1000);
  engine_report report;
  report.speculation = {10, 30, 20, {10, 6, 4}};
  log.record(report);
  const auto lines = log.log(1010);
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_THAT(lines[1].text, HasSubstr("Accepted throughput: 2.00 tokens/s"));
}

TEST(engine_log, a_vocoder_says_how_much_sound_it_makes_after_all_that_vllm_says) {
  engine_log log(2, "CPU", stage_unit::audio_seconds, 0);
  engine_report report;
  report.scheduler = scheduler_snapshot{1, 0, 0, 0, {}};
  report.prefix_cache = {1, 10, 5};
  report.units = 25;
  log.record(report);
  const auto lines = log.log(10);
  EXPECT_FALSE(lines[0].idle);
  EXPECT_EQ(lines[0].text, "Engine 002: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 0.0 tokens/s, "
                           "Running: 1 reqs, Waiting: 0 reqs, CPU KV cache usage: 0.0%, Prefix cache hit rate: 50.0%, "
                           "Avg audio throughput: 2.5 audio seconds/s");
}

TEST(engine_log, a_talker_says_how_many_frames_it_makes) {
  engine_log log(1, "CPU", stage_unit::frames, 0);
  engine_report report;
  report.units = 861;
  log.record(report);
  EXPECT_THAT(log.log(10)[0].text, EndsWith(", Avg frame throughput: 86.1 frames/s"));
}

TEST(engine_log, a_vocoder_is_idle_only_when_it_makes_no_sound) {
  engine_log log(2, "CPU", stage_unit::audio_seconds, 0);
  engine_report report;
  report.units = 1;
  log.record(report);
  EXPECT_FALSE(log.log(10)[0].idle);
  EXPECT_FALSE(log.log(20)[0].idle);
  EXPECT_TRUE(log.log(30)[0].idle);
}

TEST(engine_log, a_replica_that_left_shows_no_load_until_it_is_back) {
  engine_log log(0, "CPU", stage_unit::tokens, 0);
  engine_report report;
  report.scheduler = scheduler_snapshot{7, 3, 0, 0.5, {}};
  log.record(report);
  log.departed();
  log.record(report);
  EXPECT_THAT(log.log(10)[0].text, HasSubstr("Running: 0 reqs, Waiting: 0 reqs, CPU KV cache usage: 0.0%"));
  log.joined();
  log.record(report);
  EXPECT_THAT(log.log(20)[0].text, HasSubstr("Running: 7 reqs, Waiting: 3 reqs, CPU KV cache usage: 50.0%"));
}

TEST(engine_log, values_that_cannot_be_do_not_reach_the_console) {
  engine_log log(0, "CPU", stage_unit::frames, 0);
  engine_report report;
  report.generation_tokens = -100;
  report.prompt.computed = -1;
  report.preemptions = -2;
  report.units = std::nan("");
  log.record(report);
  const auto line = log.log(10)[0];
  EXPECT_TRUE(line.idle);
  EXPECT_THAT(line.text, Not(HasSubstr("-")));
  EXPECT_THAT(line.text, Not(HasSubstr("nan")));
}

TEST(engine_log, the_largest_counts_there_are_overflow_nothing) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  engine_log log(0, "CPU", stage_unit::tokens, 0);
  engine_report report;
  report.prefix_cache = {most, most, most};
  report.preemptions = most;
  report.speculation = {most, most, most, {most}};
  log.record(report);
  log.record(report);
  EXPECT_EQ(log.log(10).size(), 1U);
}

TEST(engine_log, a_cache_without_blocks_is_not_announced) {
  const engine_log log(3, "CPU", stage_unit::tokens, 0);
  EXPECT_TRUE(log.cache_known(0).empty());
  const auto lines = log.cache_known(40);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].text, "Engine 003: vllm cache_config_info with initialization after num_gpu_blocks is: 40");
  EXPECT_TRUE(lines[0].idle);
}

TEST(hit_window, looks_at_the_most_recent_thousand_requests) {
  hit_window window;
  window.add({600, 600, 0});
  window.add({600, 600, 600});
  EXPECT_EQ(window.rate(), 1.0);
  window.add({400, 400, 0});
  EXPECT_EQ(window.rate(), 0.6);
}

TEST(hit_window, keeps_its_newest_entry_however_large) {
  hit_window window;
  window.add({5000, 100, 25});
  EXPECT_EQ(window.rate(), 0.25);
}

TEST(hit_window, ignores_entries_without_requests) {
  hit_window window;
  window.add({0, 100, 100});
  EXPECT_TRUE(window.empty());
  EXPECT_EQ(window.rate(), 0);
}

} // namespace
} // namespace omni
