#include "metrics/statistics.hpp"

#include "test/metrics/page_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <thread>

namespace omni::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr instant start{1000, 50};

register_engine replica(std::int32_t stage, std::int32_t id) {
  register_engine who;
  who.stage.value = stage;
  who.replica.value = id;
  return who;
}

engine_report tokens(std::int32_t stage, std::int32_t id, std::int64_t count) {
  engine_report report;
  report.stage.value = stage;
  report.replica.value = id;
  report.generation_tokens = count;
  return report;
}

TEST(statistics, every_engine_has_a_line_in_the_order_of_its_index) {
  statistics all({"m"}, start);
  const std::vector<register_engine> engines{replica(0, 0), replica(1, 0), replica(1, 4)};
  ASSERT_TRUE(all.add_engines(engines, start).has_value());
  all.record(tokens(1, 4, 50), start);
  const auto lines = all.log(start.mono_s + 10);
  ASSERT_EQ(lines.size(), 3U);
  EXPECT_THAT(lines[0].text, HasSubstr("Engine 000: "));
  EXPECT_THAT(lines[1].text, HasSubstr("Engine 001: "));
  EXPECT_THAT(lines[2].text, HasSubstr("Engine 002: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: "
                                       "5.0 tokens/s"));
}

TEST(statistics, a_late_replica_measures_from_its_joining) {
  statistics all({"m"}, start);
  const auto late = replica(0, 3);
  ASSERT_TRUE(all.add_engines({&late, 1}, {1100, 150}).has_value());
  all.record(tokens(0, 3, 50), {1105, 155});
  EXPECT_THAT(all.log(160)[0].text, HasSubstr("Avg generation throughput: 5.0 tokens/s"));
}

TEST(statistics, a_repeated_registration_starts_no_new_interval_and_announces_no_cache_again) {
  statistics all({"m"}, start);
  auto who = replica(0, 0);
  who.cache = cache_facts{16, 10, 0, "auto", false};
  EXPECT_EQ(all.add_engines({&who, 1}, start)->lines.size(), 1U);
  all.record(tokens(0, 0, 100), start);
  EXPECT_TRUE(all.add_engines({&who, 1}, {1005, 55})->lines.empty());
  EXPECT_THAT(all.log(60)[0].text, HasSubstr("Avg generation throughput: 10.0 tokens/s"));
}

TEST(statistics, a_report_of_nobody_prints_and_counts_nothing) {
  statistics all({"m"}, start);
  EXPECT_FALSE(all.record(tokens(3, 3, 9), start));
  EXPECT_TRUE(all.log(60).empty());
}

TEST(statistics, the_load_of_a_replica_that_left_is_gone_from_page_and_console) {
  statistics all({"m"}, start);
  const auto who = replica(0, 0);
  ASSERT_TRUE(all.add_engines({&who, 1}, start).has_value());
  auto report = tokens(0, 0, 1);
  report.scheduler = scheduler_snapshot{5, 4, 0, 0.5, {}};
  all.record(report, start);
  all.record(engine_departed{who.stage, who.replica});
  EXPECT_THAT(all.log(60)[0].text, HasSubstr("Running: 0 reqs, Waiting: 0 reqs"));
  const auto page = samples(render(all.take({}, start)));
  EXPECT_EQ(page.at("vllm:num_requests_running{model_name=\"m\",replica=\"0\",stage=\"0\"}"), "0.0");
  EXPECT_EQ(page.at("vllm_omni:stage_waiting_requests{model_name=\"m\",stage=\"0\"}"), "0.0");
}

TEST(statistics, switched_off_they_leave_the_process_and_its_http_server) {
  statistics_options options{"m"};
  options.engines = false;
  statistics all(options, start);
  const auto who = replica(0, 0);
  ASSERT_TRUE(all.add_engines({&who, 1}, start).has_value());
  all.record(tokens(0, 0, 5), start);
  all.record(pipeline_report{}, start);
  all.record(http_report{"/v1/models", "GET", 200, 1, 2, 0.1}, start);
  EXPECT_TRUE(all.log(60).empty());
  process_facts process;
  process.open_fds = 5;
  const std::string page = render(all.take(process, start));
  EXPECT_THAT(page, Not(HasSubstr("vllm")));
  EXPECT_THAT(page, HasSubstr("process_open_fds 5.0"));
  EXPECT_THAT(page, HasSubstr("http_requests_total{"));
}

TEST(statistics, pages_are_rendered_by_another_thread_while_reports_are_counted) {
  statistics all({"m"}, start);
  const auto who = replica(0, 0);
  ASSERT_TRUE(all.add_engines({&who, 1}, start).has_value());
  std::vector<std::thread> scrapers;
  std::vector<std::string> values(20);
  for (std::size_t i = 0; i < values.size(); ++i) {
    all.record(tokens(0, 0, 1), start);
    scrapers.emplace_back([&value = values[i], picture = all.take({}, start)] {
      value = samples(render(picture)).at("vllm:generation_tokens_total{model_name=\"m\",replica=\"0\",stage=\"0\"}");
    });
    const auto late = replica(1, std::int32_t(i));
    ASSERT_TRUE(all.add_engines({&late, 1}, start).has_value());
  }
  for (std::thread& one : scrapers) one.join();
  for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], format_value(double(i + 1)));
}

} // namespace
} // namespace omni::test
