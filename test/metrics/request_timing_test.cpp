#include "metrics/request_timing.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace omni {
namespace {

constexpr std::size_t clock_back = std::size_t(bad_value::clock_back);

/// One sequence that arrived at 10 s with a prompt of 8 tokens, and a step at a given time.
struct one_sequence : ::testing::Test {
  engine_report report;
  request_timing timing{10, 8, std::nullopt};
  sample_group group{1};

  void output_at(double batch_s, std::int64_t tokens = 1) {
    step_record step(report, batch_s);
    step.output(timing, tokens, batch_s);
    step.close();
  }
  finished_request finish_at(double now_s, finished_as reason = finished_as::stop) {
    return step_record(report, now_s).finish(timing, group, reason, now_s);
  }
};

using request_timing_rules = one_sequence;

TEST_F(request_timing_rules, time_to_first_token_runs_from_arrival_to_when_the_output_leaves) {
  step_record step(report, 12);
  step.output(timing, 1, 12.5);
  EXPECT_EQ(report.time_to_first_token.sum, 2.5);
  EXPECT_EQ(report.time_to_first_token.count(), 1);
  EXPECT_TRUE(report.inter_token_latency.empty());
  EXPECT_EQ(step.finish(timing, group, finished_as::stop, 13).time_to_first_token, 2.5);
}

TEST_F(request_timing_rules, an_output_without_tokens_is_a_first_output_too) {
  output_at(11, 0);
  EXPECT_EQ(report.time_to_first_token.count(), 1);
  EXPECT_EQ(report.generation_tokens, 0);
}

TEST_F(request_timing_rules, an_output_with_several_tokens_is_one_interval) {
  output_at(11);
  output_at(13, 4);
  EXPECT_EQ(report.inter_token_latency.count(), 1);
  EXPECT_EQ(report.inter_token_latency.sum, 2);
  EXPECT_EQ(report.generation_tokens, 5);
}

TEST_F(request_timing_rules, the_first_queued_and_the_first_scheduled_stamp_count) {
  timing.queued(10.5);
  timing.scheduled(11);
  timing.preempted();
  timing.queued(11.5);
  timing.scheduled(14);
  output_at(15);
  const auto one = finish_at(15);
  EXPECT_EQ(one.queued_time, 0.5);
  EXPECT_EQ(one.prefill_time, 4);
  EXPECT_EQ(one.inference_time, 4);
}

TEST_F(request_timing_rules, intervals_of_a_finished_sequence) {
  timing.queued(10.25);
  timing.scheduled(11);
  output_at(12);
  output_at(13);
  output_at(16);
  const auto one = finish_at(16.5);
  EXPECT_EQ(one.e2e_latency, 6.5);
  EXPECT_EQ(one.queued_time, 0.75);
  EXPECT_EQ(one.prefill_time, 1);
  EXPECT_EQ(one.decode_time, 4);
  EXPECT_EQ(one.inference_time, 5);
  EXPECT_EQ(one.mean_time_per_output_token, 2);
  EXPECT_EQ(one.num_generation_tokens, 3);
}

TEST_F(request_timing_rules, a_single_token_has_a_mean_time_of_zero) {
  output_at(12);
  EXPECT_EQ(finish_at(12).mean_time_per_output_token, 0);
}

TEST_F(request_timing_rules, an_abort_before_the_first_output_is_counted_without_the_intervals_that_never_were) {
  timing.queued(10.5);
  const auto one = finish_at(12, finished_as::abort);
  EXPECT_FALSE(one.queued_time.has_value());
  EXPECT_FALSE(one.prefill_time.has_value());
  EXPECT_FALSE(one.decode_time.has_value());
  EXPECT_FALSE(one.inference_time.has_value());
  EXPECT_FALSE(one.mean_time_per_output_token.has_value());
  EXPECT_EQ(report.finished.by_reason[std::size_t(finished_as::abort)], 1);
  EXPECT_EQ(report.finished.e2e_latency.count(), 1);
  EXPECT_TRUE(report.finished.queued_time.empty());
  EXPECT_TRUE(report.iteration_tokens.empty());
}

TEST_F(request_timing_rules, preemptions_are_booked_with_the_next_output) {
  output_at(11);
  timing.preempted();
  timing.preempted();
  EXPECT_EQ(report.preemptions, 0);
  output_at(14);
  EXPECT_EQ(report.preemptions, 2);
  EXPECT_EQ(finish_at(14).num_preemptions, 2);
}

TEST_F(request_timing_rules, a_preemption_without_a_later_output_is_booked_at_the_end) {
  output_at(11);
  timing.preempted();
  EXPECT_EQ(finish_at(12, finished_as::abort).num_preemptions, 1);
  EXPECT_EQ(report.preemptions, 1);
}

TEST_F(request_timing_rules, the_prompt_is_booked_whole_at_the_first_output_by_where_it_came_from) {
  timing.found_cached(3, 1);
  output_at(11);
  output_at(12);
  EXPECT_EQ(report.prompt.computed, 4);
  EXPECT_EQ(report.prompt.local_cached, 3);
  EXPECT_EQ(report.prompt.external_cached, 1);
  EXPECT_EQ(report.prompt.total(), 8);
  EXPECT_EQ(finish_at(12).num_cached_tokens, 4);
}

TEST_F(request_timing_rules, more_cached_tokens_than_the_prompt_has_are_clamped_and_counted) {
  timing.found_cached(20, 5);
  output_at(11);
  EXPECT_EQ(report.prompt.local_cached, 8);
  EXPECT_EQ(report.prompt.external_cached, 0);
  EXPECT_EQ(report.prompt.computed, 0);
  EXPECT_EQ(report.bad[std::size_t(bad_value::malformed)], 1);
}

TEST_F(request_timing_rules, a_clock_that_goes_back_gives_zero_and_is_counted) {
  output_at(12);
  output_at(11);
  EXPECT_EQ(report.inter_token_latency.sum, 0);
  EXPECT_EQ(report.inter_token_latency.count(), 1);
  EXPECT_EQ(report.bad[clock_back], 1);
  EXPECT_EQ(finish_at(5).e2e_latency, 0);
}

TEST_F(request_timing_rules, a_stamp_that_is_no_number_is_counted_and_goes_nowhere_else) {
  output_at(11);
  output_at(std::nan(""));
  EXPECT_TRUE(report.inter_token_latency.empty());
  EXPECT_EQ(report.bad[std::size_t(bad_value::not_finite)], 1);
}

TEST_F(request_timing_rules, an_unset_limit_is_not_observed) {
  output_at(11);
  finish_at(11);
  EXPECT_TRUE(report.finished.max_tokens.empty());
}

TEST(step_record, counts_computed_and_generated_tokens_of_its_sequences_once) {
  engine_report report;
  request_timing a(0, 10, 16);
  request_timing b(0, 5, 16);
  a.found_cached(4, 0);
  step_record step(report, 1);
  step.output(a, 1, 1);
  step.output(b, 2, 1);
  step.close();
  EXPECT_EQ(report.iteration_tokens.count(), 1);
  EXPECT_EQ(report.iteration_tokens.sum, 6 + 1 + 5 + 2);
}

TEST(step_record, without_outputs_is_no_iteration) {
  engine_report report;
  step_record(report, 1).close();
  EXPECT_TRUE(report.iteration_tokens.empty());
}

TEST(sample_group, is_booked_once_when_its_last_sample_has_ended) {
  engine_report report;
  sample_group group(2);
  request_timing longer(0, 4, 16);
  request_timing shorter(0, 4, 16);
  step_record step(report, 1);
  step.output(longer, 7, 1);
  step.output(shorter, 2, 1);
  step.finish(longer, group, finished_as::length, 1);
  EXPECT_TRUE(report.groups.n.empty());
  step.finish(shorter, group, finished_as::stop, 1);
  EXPECT_EQ(report.groups.n.count(), 1);
  EXPECT_EQ(report.groups.n.sum, 2);
  EXPECT_EQ(report.groups.longest_generation.sum, 7);
  EXPECT_EQ(report.finished.by_reason[std::size_t(finished_as::length)], 1);
  EXPECT_EQ(report.finished.by_reason[std::size_t(finished_as::stop)], 1);
}

} // namespace
} // namespace omni
