#include "metrics/text_format.hpp"

#include "metrics/metric_registry.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <random>

namespace omni {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(format_value, reads_back_as_the_same_double) {
  std::mt19937_64 random(7);
  for (int i = 0; i < 20000; ++i) {
    const double value = std::ldexp(double(random()), int(random() % 200) - 160);
    EXPECT_EQ(std::strtod(format_value(value).c_str(), nullptr), value);
    EXPECT_EQ(std::strtod(format_value(-value).c_str(), nullptr), -value);
  }
}

TEST(format_value, whole_numbers_have_a_point) {
  EXPECT_EQ(format_value(0), "0.0");
  EXPECT_EQ(format_value(16384), "16384.0");
}

TEST(series_lines, labels_are_sorted_with_le_among_them) {
  const auto lines = series_lines(family_of(family_id::iteration_tokens),
                                  {{"stage", "0"}, {"model_name", "m"}, {"engine", "1"}}, std::array{1.0, 8.0});
  EXPECT_THAT(lines,
              ElementsAre("vllm:iteration_tokens_total_bucket{engine=\"1\",le=\"1.0\",model_name=\"m\",stage=\"0\"} ",
                          "vllm:iteration_tokens_total_bucket{engine=\"1\",le=\"8.0\",model_name=\"m\",stage=\"0\"} ",
                          "vllm:iteration_tokens_total_bucket{engine=\"1\",le=\"+Inf\",model_name=\"m\",stage=\"0\"} ",
                          "vllm:iteration_tokens_total_count{engine=\"1\",model_name=\"m\",stage=\"0\"} ",
                          "vllm:iteration_tokens_total_sum{engine=\"1\",model_name=\"m\",stage=\"0\"} "));
}

TEST(series_lines, a_summary_has_count_and_sum_only) {
  EXPECT_THAT(
      series_lines(family_of(family_id::http_request_size), {{"handler", "/v1"}}, {}),
      ElementsAre("http_request_size_bytes_count{handler=\"/v1\"} ", "http_request_size_bytes_sum{handler=\"/v1\"} "));
}

TEST(series_lines, without_labels_there_are_no_braces) {
  EXPECT_THAT(series_lines(family_of(family_id::process_open_fds), {}, {}), ElementsAre("process_open_fds "));
}

TEST(series_lines, backslash_quote_and_newline_in_a_label_value_are_escaped) {
  EXPECT_THAT(series_lines(family_of(family_id::generation_tokens), {{"model_name", "a\"b\\c\nd"}}, {}),
              ElementsAre("vllm:generation_tokens_total{model_name=\"a\\\"b\\\\c\\nd\"} "));
}

TEST(family_head, help_escapes_backslash_and_newline_but_no_quotes) {
  family row = family_of(family_id::requests_running);
  row.help = "a\\b\n\"c\"";
  EXPECT_EQ(family_head(row),
            "# HELP vllm:num_requests_running a\\\\b\\n\"c\"\n# TYPE vllm:num_requests_running gauge\n");
}

TEST(created_line, a_counter_loses_its_suffix_and_a_histogram_keeps_its_whole_name) {
  EXPECT_EQ(created_line(family_of(family_id::generation_tokens), {{"engine", "0"}}, 1.79e9),
            "vllm:generation_tokens_created{engine=\"0\"} 1.79e+09\n");
  EXPECT_EQ(created_line(family_of(family_id::iteration_tokens), {}, 1.5), "vllm:iteration_tokens_total_created 1.5\n");
}

std::string page_with_two_counters(bool created) {
  metric_registry registry(created);
  registry.open(family_group::own);
  registry.counter(family_id::bad_values, {{"kind", "b"}}, 1).Increment(2);
  registry.counter(family_id::bad_values, {{"kind", "a"}}, 2);
  return render(registry.take());
}

TEST(metric_registry, series_keep_the_order_in_which_they_were_made) {
  EXPECT_THAT(page_with_two_counters(true),
              HasSubstr("# TYPE omni_serve:bad_values_total counter\nomni_serve:bad_values_total{kind=\"b\"} 2.0\n"
                        "omni_serve:bad_values_total{kind=\"a\"} 0.0\n# HELP omni_serve:bad_values_created "));
}

TEST(metric_registry, created_lines_can_be_switched_off) {
  EXPECT_THAT(page_with_two_counters(true), HasSubstr("omni_serve:bad_values_created{kind=\"a\"} 2.0\n"));
  EXPECT_THAT(page_with_two_counters(false), Not(HasSubstr("_created")));
}

TEST(metric_registry, a_family_without_series_shows_its_head_and_no_created_block) {
  metric_registry registry(true);
  registry.open(family_group::own);
  const std::string page = render(registry.take());
  EXPECT_THAT(page, HasSubstr("# TYPE omni_serve:bad_values_total counter\n"));
  EXPECT_THAT(page, Not(HasSubstr("_created")));
}

TEST(metric_registry, a_snapshot_does_not_change_when_more_is_recorded_or_made) {
  metric_registry registry(true);
  registry.open(family_group::own);
  auto& counter = registry.counter(family_id::bad_values, {{"kind", "a"}}, 1);
  const snapshot before = registry.take();
  const std::string page = render(before);
  counter.Increment();
  registry.counter(family_id::bad_values, {{"kind", "b"}}, 2);
  registry.open(family_group::health);
  EXPECT_EQ(render(before), page);
  EXPECT_NE(render(registry.take()), page);
}

TEST(families, have_names_of_their_own_and_a_help_text) {
  std::vector<std::string_view> names;
  for (const family& row : all_families()) {
    names.push_back(row.name);
    EXPECT_FALSE(row.help.empty()) << row.name;
    EXPECT_EQ(row.kind == family_kind::histogram, row.buckets != bucket_list::none) << row.name;
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(std::adjacent_find(names.begin(), names.end()), names.end());
}

TEST(families, a_counter_ends_in_total) {
  for (const family& row : all_families())
    EXPECT_TRUE(row.kind != family_kind::counter || row.name.ends_with("_total")) << row.name;
}

} // namespace
} // namespace omni
