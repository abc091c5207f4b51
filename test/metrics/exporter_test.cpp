#include "test/metrics/exporter_fixture.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

namespace omni::test {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

struct one_engine : exporter_fixture {
  one_engine() { join(replica(0, 0)); }
  engine_report report;
  std::string series(const std::string& name, const std::string& more_before = {}) {
    return value(name + "{" + more_before + "model_name=\"m\",replica=\"0\",stage=\"0\"}");
  }
};

TEST_F(one_engine, waiting_requests_are_the_sum_of_their_reasons) {
  report.scheduler = scheduler_snapshot{3, 2, 4, 0.5, {}};
  made.record(report, 100);
  EXPECT_EQ(series("vllm:num_requests_waiting"), "6.0");
  EXPECT_EQ(
      value("vllm:num_requests_waiting_by_reason{model_name=\"m\",reason=\"capacity\",replica=\"0\",stage=\"0\"}"),
      "2.0");
  EXPECT_EQ(
      value("vllm:num_requests_waiting_by_reason{model_name=\"m\",reason=\"deferred\",replica=\"0\",stage=\"0\"}"),
      "4.0");
}

TEST_F(one_engine, a_report_without_a_load_counts_and_leaves_the_gauges) {
  report.scheduler = scheduler_snapshot{3, 0, 0, 0.5, {}};
  made.record(report, 100);
  engine_report facts;
  facts.generation_tokens = 7;
  made.record(facts, 100);
  EXPECT_EQ(series("vllm:num_requests_running"), "3.0");
  EXPECT_EQ(series("vllm:generation_tokens_total"), "7.0");
}

TEST_F(one_engine, prompt_tokens_are_the_sum_of_their_sources) {
  report.prompt = {5, 3, 2};
  made.record(report, 100);
  EXPECT_EQ(series("vllm:prompt_tokens_total"), "10.0");
  EXPECT_EQ(series("vllm:prompt_tokens_cached_total"), "5.0");
}

TEST_F(one_engine, lookups_after_a_preemption_do_not_raise_the_hit_rate) {
  report.preempted_prefix_cache = {1, 300, 288};
  made.record(report, 100);
  EXPECT_EQ(series("vllm:prefix_cache_queries_total"), "0.0");
  EXPECT_EQ(series("vllm:prefix_cache_hits_total"), "0.0");
}

TEST_F(one_engine, negative_counts_are_taken_as_zero_and_counted) {
  report.generation_tokens = -5;
  report.prompt = {-4, 6, 0};
  report.preemptions = -1;
  report.scheduler = scheduler_snapshot{-2, 0, 0, -0.5, {}};
  made.record(report, 100);
  EXPECT_EQ(series("vllm:generation_tokens_total"), "0.0");
  EXPECT_EQ(series("vllm:prompt_tokens_total"), "6.0");
  EXPECT_EQ(series("vllm:num_preemptions_total"), "0.0");
  EXPECT_EQ(series("vllm:num_requests_running"), "0.0");
  EXPECT_EQ(series("vllm:kv_cache_usage_perc"), "0.0");
  EXPECT_EQ(bad_count("negative"), "5.0");
}

TEST_F(one_engine, values_that_are_no_number_are_left_out_and_counted) {
  report.scheduler = scheduler_snapshot{1, 0, 0, std::nan(""), {}};
  report.work = work_estimate{std::numeric_limits<double>::infinity(), 1, 1};
  made.record(report, 100);
  EXPECT_EQ(series("vllm:kv_cache_usage_perc"), "0.0");
  EXPECT_EQ(series("vllm:estimated_flops_per_gpu_total"), "0.0");
  EXPECT_EQ(series("vllm:estimated_read_bytes_per_gpu_total"), "1.0");
  EXPECT_EQ(bad_count("not_finite"), "2.0");
}

TEST_F(one_engine, what_the_sender_already_clamped_is_counted_too) {
  report.inter_token_latency.add(-1, report.bad);
  made.record(report, 100);
  EXPECT_EQ(bad_count("negative"), "1.0");
  EXPECT_EQ(series("vllm:inter_token_latency_seconds_count"), "1.0");
}

TEST_F(one_engine, observations_that_fit_no_bucket_list_are_left_out_and_counted) {
  report.inter_token_latency.counts = {1, 2};
  report.time_to_first_token.counts.assign(23, -1);
  report.iteration_tokens.add(5, report.bad);
  report.iteration_tokens.sum = std::nan("");
  made.record(report, 100);
  EXPECT_EQ(bad_count("malformed"), "3.0");
  EXPECT_EQ(series("vllm:inter_token_latency_seconds_count"), "0.0");
  EXPECT_EQ(series("vllm:time_to_first_token_seconds_count"), "0.0");
  EXPECT_EQ(series("vllm:iteration_tokens_total_sum"), "0.0");
}

TEST_F(one_engine, tokens_above_the_context_land_in_the_last_bucket) {
  finished_request one;
  one.num_prompt_tokens = 1000; // the largest context here
  report.finished.add(one, report.bad);
  one.num_prompt_tokens = 5000;
  report.finished.add(one, report.bad);
  made.record(report, 100);
  EXPECT_EQ(value("vllm:request_prompt_tokens_bucket{le=\"1000.0\",model_name=\"m\",replica=\"0\",stage=\"0\"}"),
            "1.0");
  EXPECT_EQ(value("vllm:request_prompt_tokens_bucket{le=\"+Inf\",model_name=\"m\",replica=\"0\",stage=\"0\"}"), "2.0");
  EXPECT_EQ(value("vllm:request_prompt_tokens_bucket{le=\"2000.0\",model_name=\"m\",replica=\"0\",stage=\"0\"}"), "");
  EXPECT_EQ(series("vllm:request_prompt_tokens_sum"), "6000.0");
}

TEST_F(one_engine, all_engines_sleep_and_wake_together) {
  join(replica(1, 0));
  const auto state = [&](const std::string& stage, const std::string& name) {
    return value("vllm:engine_sleep_state{model_name=\"m\",replica=\"0\",sleep_state=\"" + name + "\",stage=\"" +
                 stage + "\"}");
  };
  made.record(sleep_state{2});
  EXPECT_EQ(state("0", "discard_all"), "1.0");
  EXPECT_EQ(state("1", "discard_all"), "1.0");
  EXPECT_EQ(state("1", "awake"), "0.0");
  made.record(sleep_state{0});
  EXPECT_EQ(state("0", "discard_all"), "0.0");
  EXPECT_EQ(state("0", "awake"), "0.0");
  made.record(sleep_state{});
  EXPECT_EQ(state("0", "awake"), "1.0");
}

TEST_F(one_engine, health_appears_with_the_first_word_about_it) {
  EXPECT_THAT(page(), Not(HasSubstr("vllm:engine_healthy")));
  made.record(engine_health{{0}, {0}, true}, 100);
  EXPECT_EQ(value("vllm:engine_healthy{replica=\"0\",stage=\"0\"}"), "1.0");
  made.record(engine_health{{0}, {0}, false}, 100);
  EXPECT_EQ(value("vllm:engine_healthy{replica=\"0\",stage=\"0\"}"), "0.0");
}

TEST_F(one_engine, its_cache_is_described_once_its_size_is_known) {
  EXPECT_THAT(page(), Not(HasSubstr("cache_config_info")));
  auto who = replica(0, 0);
  who.cache = cache_facts{16, 100, 0.9, "auto", true};
  join(who);
  EXPECT_EQ(value("vllm:cache_config_info{block_size=\"16\",cache_dtype=\"auto\",enable_prefix_caching=\"True\","
                  "gpu_memory_utilization=\"0.9\",kv_cache_size_tokens=\"1600\",num_gpu_blocks=\"100\",replica=\"0\","
                  "stage=\"0\"}"),
            "1.0");
}

TEST_F(one_engine, that_is_lost_ends_what_it_worked_on_as_errors) {
  join(replica(0, 0));
  made.record(engine_departed{{0}, {0}, 3});
  EXPECT_EQ(value("vllm:request_success_total{finished_reason=\"error\",model_name=\"m\",replica=\"0\",stage=\"0\"}"), "3.0");
}

TEST_F(one_engine, that_comes_back_with_another_cache_leaves_the_old_description_at_zero) {
  auto who = replica(0, 0);
  who.cache = cache_facts{16, 100, 0.9, "auto", true};
  join(who);
  made.record(engine_departed{{0}, {0}});
  who.cache->num_gpu_blocks = 50;
  join(who);
  std::map<std::string, std::string> by_blocks;
  for (const auto& [line, text] : samples(page()))
    if (line.starts_with("vllm:cache_config_info"))
      by_blocks[line.find("num_gpu_blocks=\"50\"") == std::string::npos ? "old" : "new"] = text;
  EXPECT_EQ(by_blocks, (std::map<std::string, std::string>{{"new", "1.0"}, {"old", "0.0"}}));
}

TEST_F(one_engine, accepted_drafts_count_by_position_where_tokens_are_drafted) {
  auto drafting = replica(1, 0);
  drafting.speculative_tokens = 2;
  join(drafting);
  engine_report drafted;
  drafted.stage.value = 1;
  drafted.speculation = {4, 8, 5, {3, 2, 7}}; // one position more than was registered
  made.record(drafted, 100);
  const auto at = [&](const std::string& position) {
    return value("vllm:spec_decode_num_accepted_tokens_per_pos_total{model_name=\"m\",position=\"" + position +
                 "\",replica=\"0\",stage=\"1\"}");
  };
  EXPECT_EQ(at("0"), "3.0");
  EXPECT_EQ(at("1"), "2.0");
  EXPECT_EQ(at("2"), "");
  EXPECT_EQ(value("vllm:spec_decode_num_drafts_total{model_name=\"m\",replica=\"0\",stage=\"0\"}"), "");
}

TEST_F(one_engine, a_hand_over_to_nobody_makes_no_series) {
  join(replica(1, 0));
  report.transfer({0}, {0}, {1}, {0}).size.add(100, report.bad);
  report.transfer({0}, {0}, {1}, {77}).size.add(100, report.bad);
  made.record(report, 100);
  const auto edge_to = [&](const std::string& id) {
    return value(
        "vllm_omni:transfer_size_bytes_count{from_replica=\"0\",from_stage=\"0\",model_name=\"m\",to_replica=\"" + id +
        "\",to_stage=\"1\"}");
  };
  EXPECT_EQ(edge_to("0"), "1.0");
  EXPECT_EQ(edge_to("77"), "");
  EXPECT_EQ(bad_count("unknown_engine"), "1.0");
}

TEST_F(one_engine, the_largest_counts_there_are_overflow_nothing) {
  constexpr auto most = std::numeric_limits<std::int64_t>::max();
  report.prompt = {most, most, most};
  report.prefix_cache = {most, most, most};
  made.record(report, 100);
  made.record(report, 100);
  EXPECT_EQ(std::stod(series("vllm:prompt_tokens_total")), 6 * double(most));
}

TEST_F(one_engine, waiting_requests_of_a_stage_are_summed_over_its_replicas) {
  join(replica(0, 5));
  report.scheduler = scheduler_snapshot{0, 2, 1, 0, {}};
  made.record(report, 100);
  report.replica.value = 5;
  made.record(report, 100);
  made.update_waiting(100);
  EXPECT_EQ(value("vllm_omni:stage_waiting_requests{model_name=\"m\",stage=\"0\"}"), "6.0");
}

TEST_F(one_engine, requests_that_wait_inside_it_are_waiting_requests_of_the_pipeline) {
  pipeline_report whole;
  whole.running = 10;
  whole.waiting = 1;
  made.record(whole, 100);
  report.scheduler = scheduler_snapshot{4, 3, 2, 0, {}}; // two wait for the stage before, which works on them
  made.record(report, 100);
  made.update_waiting(100);
  EXPECT_EQ(value("vllm_omni:num_requests_running{model_name=\"m\"}"), "7.0");
  EXPECT_EQ(value("vllm_omni:num_requests_waiting{model_name=\"m\"}"), "4.0");
  report.scheduler->waiting = 50; // several samples of each request
  made.record(report, 100);
  made.update_waiting(100);
  EXPECT_EQ(value("vllm_omni:num_requests_running{model_name=\"m\"}"), "0.0");
  EXPECT_EQ(value("vllm_omni:num_requests_waiting{model_name=\"m\"}"), "11.0");
}

TEST_F(exporter_fixture, buckets_of_tokens_reach_to_the_longest_context_of_engines_that_start_together) {
  auto voice = replica(1, 0);
  auto text = replica(2, 0);
  text.max_model_len = 5000;
  const std::vector<register_engine> both{voice, text};
  ASSERT_TRUE(made.add_engines(both, 100));
  EXPECT_EQ(value("vllm:request_prompt_tokens_bucket{le=\"5000.0\",model_name=\"m\",replica=\"0\",stage=\"1\"}"),
            "0.0");
}

TEST_F(exporter_fixture, rejections_before_the_first_engine_are_not_lost) {
  pipeline_report refused;
  refused.rejected[std::size_t(rejected_as::max_num_queued_reqs)] = 3;
  made.record(refused, 100);
  join(replica(0, 0));
  made.record(refused, 100);
  EXPECT_EQ(value("vllm:admission_rejections_total{model_name=\"m\",reason=\"max_num_queued_reqs\"}"), "6.0");
}

TEST_F(exporter_fixture, buckets_of_tokens_reach_to_the_first_engines_context_if_that_is_longer) {
  auto who = replica(0, 0);
  who.max_model_len = 4096;
  join(who);
  EXPECT_EQ(value("vllm:request_prompt_tokens_bucket{le=\"2000.0\",model_name=\"m\",replica=\"0\",stage=\"0\"}"),
            "0.0");
  EXPECT_EQ(value("vllm:request_prompt_tokens_bucket{le=\"5000.0\",model_name=\"m\",replica=\"0\",stage=\"0\"}"), "");
}

struct plain_vllm : exporter_fixture {
  plain_vllm() : exporter_fixture(label_scheme::engine) {}
};

TEST_F(plain_vllm, series_carry_the_flat_index_and_there_are_no_pipeline_families) {
  join(replica(2, 7));
  tokens(2, 7, 4);
  pipeline_report ended;
  ended.add_success(finished_as::stop, 1);
  made.record(ended, 100);
  EXPECT_EQ(value("vllm:generation_tokens_total{engine=\"0\",model_name=\"m\"}"), "4.0");
  EXPECT_THAT(page(), Not(HasSubstr("vllm_omni:")));
  EXPECT_THAT(page(), Not(HasSubstr("stage=")));
}

TEST(exporter, a_model_name_with_quotes_and_backslashes_is_escaped_everywhere) {
  const common_labels labels{"a\"b\\c\nd", label_scheme::engine};
  metric_registry registry(true);
  bad_value_series bad(registry, labels, 1);
  exporter made(labels, 10, registry, bad, 1);
  const register_engine who;
  ASSERT_TRUE(made.add_engines({&who, 1}, 1).has_value());
  const std::string page = render(registry.take());
  EXPECT_THAT(page, HasSubstr("vllm:generation_tokens_total{engine=\"0\",model_name=\"a\\\"b\\\\c\\nd\"} 0.0\n"));
  EXPECT_THAT(page, Not(HasSubstr("c\nd")));
}

} // namespace
} // namespace omni::test
