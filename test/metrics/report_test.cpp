#include "messages/report.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace omni {
namespace {

/// A report with something in every part, whose sums are exact in doubles.
engine_report some_report(std::uint32_t seed) {
  std::mt19937 random(seed);
  const auto some = [&] { return std::int64_t(random() % 50); };
  const auto seconds = [&] { return double(random() % 4096) / 1024; };
  engine_report x;
  x.scheduler = scheduler_snapshot{std::int32_t(some()), std::int32_t(some()), std::int32_t(some()), 0.5, {}};
  x.prefix_cache = {some(), some(), some()};
  x.preempted_prefix_cache = {some(), some(), some()};
  x.external_prefix_cache = {some(), some(), some()};
  x.external_hits_by_tier = {some(), some(), some(), some()};
  x.mm_cache = {some(), some(), some()};
  x.generation_tokens = some();
  x.prompt = {some(), some(), some()};
  x.preemptions = some();
  x.iteration_tokens.add(double(some()), x.bad);
  x.time_to_first_token.add(seconds(), x.bad);
  x.inter_token_latency.add(seconds(), x.bad);
  x.finished.add({finished_as(random() % finish_kinds), some(), 0, some(), 1, some(), seconds(), seconds(), seconds(),
                  seconds(), seconds(), seconds(), seconds()},
                 x.bad);
  x.groups.n.add(double(1 + some()), x.bad);
  x.groups.longest_generation.add(double(some()), x.bad);
  x.units = seconds();
  x.speculation = {some(), some(), some(), {some(), some()}};
  x.work = {double(some()), double(some()), double(some())};
  x.audio.ttfp.add(seconds(), x.bad);
  x.audio.frames = some();
  x.audio.continuity_ok = some();
  x.audio.skipped = some();
  x.stage_gen_time.add(seconds(), x.bad);
  x.transfer({0}, {0}, {1}, {std::int32_t(random() % 2)}).size.add(double(some()), x.bad);
  ++x.bad[random() % bad_value_kinds];
  return x;
}

bool same(const observations& a, const observations& b) { return a.counts == b.counts && a.sum == b.sum; }
bool same(const cache_counts& a, const cache_counts& b) {
  return a.requests == b.requests && a.queries == b.queries && a.hits == b.hits;
}

void expect_same(const engine_report& a, const engine_report& b) {
  EXPECT_EQ(a.scheduler->running, b.scheduler->running);
  EXPECT_EQ(a.scheduler->waiting, b.scheduler->waiting);
  EXPECT_TRUE(same(a.prefix_cache, b.prefix_cache));
  EXPECT_TRUE(same(a.preempted_prefix_cache, b.preempted_prefix_cache));
  EXPECT_TRUE(same(a.external_prefix_cache, b.external_prefix_cache));
  EXPECT_EQ(a.external_hits_by_tier, b.external_hits_by_tier);
  EXPECT_TRUE(same(a.mm_cache, b.mm_cache));
  EXPECT_EQ(a.generation_tokens, b.generation_tokens);
  EXPECT_EQ(a.prompt.computed, b.prompt.computed);
  EXPECT_EQ(a.prompt.cached(), b.prompt.cached());
  EXPECT_EQ(a.preemptions, b.preemptions);
  EXPECT_TRUE(same(a.iteration_tokens, b.iteration_tokens));
  EXPECT_TRUE(same(a.time_to_first_token, b.time_to_first_token));
  EXPECT_TRUE(same(a.inter_token_latency, b.inter_token_latency));
  EXPECT_EQ(a.finished.by_reason, b.finished.by_reason);
  EXPECT_TRUE(same(a.finished.e2e_latency, b.finished.e2e_latency));
  EXPECT_TRUE(same(a.finished.prompt_tokens, b.finished.prompt_tokens));
  EXPECT_TRUE(same(a.finished.time_per_output_token, b.finished.time_per_output_token));
  EXPECT_TRUE(same(a.groups.n, b.groups.n));
  EXPECT_TRUE(same(a.groups.longest_generation, b.groups.longest_generation));
  EXPECT_EQ(a.units, b.units);
  EXPECT_EQ(a.speculation->drafts, b.speculation->drafts);
  EXPECT_EQ(a.speculation->accepted_at, b.speculation->accepted_at);
  EXPECT_EQ(a.work->flops, b.work->flops);
  EXPECT_TRUE(same(a.audio.ttfp, b.audio.ttfp));
  EXPECT_EQ(a.audio.frames, b.audio.frames);
  EXPECT_EQ(a.audio.continuity_ok, b.audio.continuity_ok);
  EXPECT_EQ(a.audio.skipped, b.audio.skipped);
  EXPECT_TRUE(same(a.stage_gen_time, b.stage_gen_time));
  ASSERT_EQ(a.transfers.size(), b.transfers.size());
  for (std::size_t i = 0; i < a.transfers.size(); ++i) EXPECT_TRUE(same(a.transfers[i].size, b.transfers[i].size));
  EXPECT_EQ(a.bad, b.bad);
}

engine_report merged(engine_report a, engine_report b) {
  a.merge(std::move(b));
  return a;
}

TEST(engine_report, merging_gives_the_same_in_any_grouping) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    const auto a = some_report(3 * seed);
    const auto b = some_report(3 * seed + 1);
    const auto c = some_report(3 * seed + 2);
    expect_same(merged(merged(a, b), c), merged(a, merged(b, c)));
  }
}

TEST(engine_report, merging_into_an_empty_report_copies_all_of_it) {
  const auto x = some_report(1);
  expect_same(merged(engine_report{}, x), x);
}

TEST(engine_report, a_step_without_a_load_keeps_the_load_of_the_step_before) {
  engine_report first;
  first.scheduler = scheduler_snapshot{4, 2, 0, 0.25, {}};
  first.merge(engine_report{});
  ASSERT_TRUE(first.scheduler.has_value());
  EXPECT_EQ(first.scheduler->running, 4);
}

TEST(engine_report, ten_thousand_merged_steps_lose_no_count_and_take_the_room_of_one) {
  engine_report all;
  for (int i = 0; i < 10000; ++i) {
    engine_report step;
    step.generation_tokens = 3;
    step.inter_token_latency.add(0.02, step.bad, 3);
    step.finished.add({}, step.bad);
    step.transfer({0}, {0}, {1}, {0}).size.add(100, step.bad);
    all.merge(std::move(step));
  }
  EXPECT_EQ(all.generation_tokens, 30000);
  EXPECT_EQ(all.inter_token_latency.count(), 30000);
  EXPECT_EQ(all.finished.by_reason[0], 10000);
  EXPECT_EQ(all.finished.e2e_latency.count(), 10000);
  ASSERT_EQ(all.transfers.size(), 1U);
  EXPECT_EQ(all.transfers[0].size.count(), 10000);
  EXPECT_EQ(all.inter_token_latency.counts.size(), bucket_bounds(bucket_list::inter_token_latency).size() + 1);
}

TEST(observations, a_bound_belongs_to_its_own_bucket) {
  bad_value_counts bad{};
  observations x(bucket_list::request_params_n); // 1 2 5 10 20
  for (const double value : {1.0, 1.5, 20.0, 21.0}) x.add(value, bad);
  EXPECT_EQ(x.counts, (std::vector<std::int64_t>{1, 1, 0, 0, 1, 1}));
  EXPECT_EQ(x.sum, 43.5);
}

TEST(observations, a_negative_value_is_taken_as_zero_and_counted) {
  bad_value_counts bad{};
  observations x(bucket_list::inter_token_latency);
  x.add(-3, bad);
  EXPECT_EQ(x.count(), 1);
  EXPECT_EQ(x.counts[0], 1);
  EXPECT_EQ(x.sum, 0);
  EXPECT_EQ(bad[std::size_t(bad_value::negative)], 1);
}

TEST(observations, what_is_no_finite_number_is_left_out_and_counted) {
  bad_value_counts bad{};
  observations x(bucket_list::inter_token_latency);
  x.add(std::nan(""), bad);
  x.add(std::numeric_limits<double>::infinity(), bad);
  x.add(-std::numeric_limits<double>::infinity(), bad, 2);
  EXPECT_TRUE(x.empty());
  EXPECT_EQ(bad[std::size_t(bad_value::not_finite)], 4);
}

TEST(bucket_bounds, ascend_strictly_in_every_list) {
  for (std::uint8_t i = 0; i <= std::uint8_t(bucket_list::none); ++i) {
    const auto bounds = bucket_bounds(bucket_list(i));
    for (std::size_t k = 1; k < bounds.size(); ++k) EXPECT_LT(bounds[k - 1], bounds[k]) << "list " << int(i);
  }
}

TEST(pipeline_report, a_failure_is_an_abort_among_the_ended_requests) {
  pipeline_report x;
  x.add_failure(failed_as::stage_error);
  EXPECT_EQ(x.failed[std::size_t(failed_as::stage_error)], 1);
  EXPECT_EQ(x.success[std::size_t(finished_as::abort)], 1);
}

TEST(pipeline_report, merging_adds_counts_and_keeps_the_latest_gauges) {
  pipeline_report a;
  a.running = 5;
  a.waiting = 1;
  a.add_success(finished_as::stop, 2.0);
  a.rejected[0] = 1;
  pipeline_report b;
  b.running = 2;
  b.add_success(finished_as::length, 4.0);
  b.speech_completed = 1;
  a.merge(std::move(b));
  EXPECT_EQ(a.running, 2);
  EXPECT_EQ(a.waiting, 1);
  EXPECT_EQ(a.success[std::size_t(finished_as::stop)], 1);
  EXPECT_EQ(a.success[std::size_t(finished_as::length)], 1);
  EXPECT_EQ(a.e2e_latency.count(), 2);
  EXPECT_EQ(a.e2e_latency.sum, 6.0);
  EXPECT_EQ(a.rejected[0], 1);
  EXPECT_EQ(a.speech_completed, 1);
}

} // namespace
} // namespace omni
