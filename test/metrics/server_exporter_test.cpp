#include "metrics/server_exporter.hpp"

#include "test/metrics/page_text.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace omni::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct server_fixture : ::testing::Test {
  metric_registry registry{true};
  bad_value_series bad{registry, {"m", label_scheme::stage_replica}, 1};
  server_exporter server{registry, bad, 1};

  std::string page() { return render(registry.take()); }
  std::string value(const std::string& series) {
    const auto all = samples(page());
    const auto found = all.find(series);
    return found == all.end() ? "" : found->second;
  }
};

using http_statistics = server_fixture;

TEST_F(http_statistics, an_answer_is_counted_by_route_method_and_class_of_status) {
  server.record(http_report{"/v1/models", "GET", 204, 10, 300, 0.2}, 5);
  server.record(http_report{"/v1/models", "GET", 200, 10, 100, 0.4}, 6);
  EXPECT_EQ(value("http_requests_total{handler=\"/v1/models\",method=\"GET\",status=\"2xx\"}"), "2.0");
  EXPECT_EQ(value("http_requests_created{handler=\"/v1/models\",method=\"GET\",status=\"2xx\"}"), "5.0");
  EXPECT_EQ(value("http_request_size_bytes_count{handler=\"/v1/models\"}"), "2.0");
  EXPECT_EQ(value("http_request_size_bytes_sum{handler=\"/v1/models\"}"), "20.0");
  EXPECT_EQ(value("http_response_size_bytes_sum{handler=\"/v1/models\"}"), "400.0");
  EXPECT_EQ(value("http_request_duration_highr_seconds_bucket{le=\"0.25\"}"), "1.0");
  EXPECT_EQ(value("http_request_duration_highr_seconds_count"), "2.0");
  EXPECT_EQ(value("http_request_duration_seconds_bucket{handler=\"/v1/models\",le=\"0.5\",method=\"GET\"}"), "2.0");
}

TEST_F(http_statistics, sizes_are_summaries_without_buckets) {
  server.record(http_report{"/v1/models", "GET", 200, 10, 300, 0.2}, 5);
  EXPECT_THAT(page(), HasSubstr("# TYPE http_request_size_bytes summary\n"));
  EXPECT_THAT(page(), Not(HasSubstr("http_request_size_bytes_bucket")));
}

TEST_F(http_statistics, routes_that_programs_poll_are_left_out) {
  for (const char* route : {"/metrics", "/health", "/ready", "/version", "/ping", "/load", "/server_info"})
    server.record(http_report{route, "GET", 200, 0, 10, 0.1}, 5);
  EXPECT_THAT(page(), Not(HasSubstr("http_requests_total{")));
  EXPECT_EQ(value("http_request_duration_highr_seconds_count"), "0.0");
}

TEST_F(http_statistics, a_client_cannot_make_series_with_words_of_its_own) {
  server.record(http_report{"none", "BREW\"", 404, 0, 10, 0.1}, 5);
  server.record(http_report{"none", "POUR", 404, 0, 10, 0.1}, 5);
  EXPECT_EQ(value("http_requests_total{handler=\"none\",method=\"other\",status=\"4xx\"}"), "2.0");
}

TEST_F(http_statistics, values_that_cannot_be_are_clamped_and_counted) {
  server.record(http_report{"/v1/models", "GET", 7000, -5, 10, std::nan("")}, 5);
  EXPECT_EQ(value("http_requests_total{handler=\"/v1/models\",method=\"GET\",status=\"other\"}"), "1.0");
  EXPECT_EQ(value("http_request_size_bytes_sum{handler=\"/v1/models\"}"), "0.0");
  EXPECT_EQ(value("omni_serve:bad_values_total{kind=\"malformed\",model_name=\"m\"}"), "1.0");
  EXPECT_EQ(value("omni_serve:bad_values_total{kind=\"negative\",model_name=\"m\"}"), "1.0");
  EXPECT_EQ(value("omni_serve:bad_values_total{kind=\"not_finite\",model_name=\"m\"}"), "2.0");
}

using process_statistics = server_fixture;

TEST_F(process_statistics, facts_are_gauges_and_cpu_time_only_grows) {
  process_facts facts;
  facts.resident_memory_bytes = 4096;
  facts.start_time_s = 1.5e9;
  facts.cpu_s = 2.5;
  server.record(facts, 1);
  facts.cpu_s = 2.0;
  facts.resident_memory_bytes = 2048;
  server.record(facts, 2);
  facts.cpu_s = 3.0;
  server.record(facts, 3);
  EXPECT_EQ(value("process_resident_memory_bytes"), "2048.0");
  EXPECT_EQ(value("process_start_time_seconds"), "1.5e+09");
  EXPECT_EQ(value("process_cpu_seconds_total"), "3.0");
  EXPECT_THAT(page(), Not(HasSubstr("process_cpu_seconds_created")));
}

TEST_F(process_statistics, a_fact_that_is_not_known_has_no_series) {
  server.record(process_facts{}, 1);
  EXPECT_TRUE(value("process_max_fds").empty());
}

constexpr const char* stat_line =
    "4242 (a (b) c) R 1 2 3 4 5 6 7 8 9 10 150 50 0 0 20 0 9 0 200 1048576 25 18446744073709551615 1 1 0\n";
constexpr const char* limits = "Limit                     Soft Limit           Hard Limit           Units     \n"
                               "Max processes             100                  200                  processes \n"
                               "Max open files            1024                 4096                 files     \n";
constexpr const char* system_stat = "cpu  1 2 3\nbtime 1700000000\nprocesses 3\n";

TEST(read_process_facts, reads_a_name_with_spaces_and_brackets) {
  const auto facts = read_process_facts({stat_line, limits, system_stat, 12, 4096, 100});
  EXPECT_EQ(facts.virtual_memory_bytes, 1048576);
  EXPECT_EQ(facts.resident_memory_bytes, 25 * 4096);
  EXPECT_EQ(facts.cpu_s, 2.0);
  EXPECT_EQ(facts.start_time_s, 1700000002.0);
  EXPECT_EQ(facts.open_fds, 12);
  EXPECT_EQ(facts.max_fds, 1024);
}

TEST(read_process_facts, texts_that_are_cut_off_leave_facts_out) {
  const std::string whole = stat_line;
  for (std::size_t length = 0; length < whole.size(); ++length)
    (void)read_process_facts({whole.substr(0, length), "Max open files", "btime", 1, 4096, 100});
  const auto facts = read_process_facts({"4242 (x) R 1", "Max open files", "btime", 1, 4096, 0});
  EXPECT_FALSE(facts.virtual_memory_bytes.has_value());
  EXPECT_FALSE(facts.max_fds.has_value());
  EXPECT_FALSE(facts.start_time_s.has_value());
}

TEST(read_process_facts, an_unlimited_number_of_files_is_no_fact) {
  EXPECT_FALSE(read_process_facts({stat_line, "Max open files  unlimited unlimited files\n", system_stat, 1, 4096, 100})
                   .max_fds.has_value());
}

} // namespace
} // namespace omni::test
