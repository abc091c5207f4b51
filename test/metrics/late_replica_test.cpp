#include "test/metrics/exporter_fixture.hpp"

#include <gmock/gmock.h>

#include <algorithm>
#include <limits>
#include <set>

namespace omni::test {
namespace {

using ::testing::HasSubstr;

/// The rules for replicas that join, repeat themselves, conflict and leave (serving.md 2.2).
using late_replica = exporter_fixture;

/// Names and labels of a page's series without those of the engine.
std::multiset<std::string> shapes(const std::vector<std::string>& lines) {
  std::multiset<std::string> out;
  for (const std::string& line : lines) {
    std::string shape = line.substr(0, line.find('{'));
    for (const auto& [name, text] : labels_of(line))
      if (name != "stage" && name != "replica") shape.append(" ").append(name).append("=").append(text);
    out.insert(std::move(shape));
  }
  return out;
}

TEST_F(late_replica, before_the_first_one_there_is_no_engine_family) {
  EXPECT_EQ(page().find("\nvllm:"), std::string::npos);
}

TEST_F(late_replica, the_first_one_of_an_empty_head_makes_the_families) {
  EXPECT_EQ(join(replica(0, 0)), 0);
  EXPECT_EQ(value("vllm:generation_tokens_total{model_name=\"m\",replica=\"0\",stage=\"0\"}"), "0.0");
}

TEST_F(late_replica, has_every_series_of_a_first_one_at_every_nesting_level) {
  auto first = replica(0, 0);
  first.speculative_tokens = 3;
  first.cache = cache_facts{16, 100, 0.9, "auto", true};
  auto late = first;
  late.replica.value = 1;
  join(first);
  tokens(0, 0, 5);
  join(late, 200);
  EXPECT_EQ(shapes(lines_about(0, 1)), shapes(lines_about(0, 0)));
}

TEST_F(late_replica, starts_with_zeros_and_the_time_of_its_joining) {
  join(replica(0, 0));
  join(replica(0, 1), 200);
  for (const std::string& line : lines_about(0, 1)) {
    if (line.find("_created{") != std::string::npos) {
      EXPECT_TRUE(line.ends_with(" 200.0")) << line;
    } else if (line.find("sleep_state=\"awake\"") == std::string::npos) {
      EXPECT_TRUE(line.ends_with(" 0.0")) << line;
    }
  }
}

TEST_F(late_replica, starts_awake_while_others_sleep_on) {
  join(replica(0, 0));
  made.record(sleep_state{1});
  join(replica(0, 1));
  const auto state = [&](int id, const std::string& name) {
    return value("vllm:engine_sleep_state{model_name=\"m\",replica=\"" + std::to_string(id) + "\",sleep_state=\"" +
                 name + "\",stage=\"0\"}");
  };
  EXPECT_EQ(state(0, "awake"), "0.0");
  EXPECT_EQ(state(0, "weights_offloaded"), "1.0");
  EXPECT_EQ(state(1, "awake"), "1.0");
  EXPECT_EQ(state(1, "weights_offloaded"), "0.0");
}

TEST_F(late_replica, moves_nothing_of_the_others) {
  join(replica(0, 0));
  tokens(0, 0, 16);
  const auto before = lines_about(0, 0);
  join(replica(0, 3), 200);
  tokens(0, 3, 64);
  EXPECT_EQ(lines_about(0, 0), before);
  EXPECT_EQ(value("vllm:generation_tokens_total{model_name=\"m\",replica=\"3\",stage=\"0\"}"), "64.0");
}

TEST_F(late_replica, comes_after_all_earlier_series_of_its_family) {
  join(replica(5, 0));
  join(replica(0, 0));
  const std::string text = page();
  const auto of = [&](const std::string& reason, const std::string& stage) {
    return text.find("vllm:num_requests_waiting_by_reason{model_name=\"m\",reason=\"" + reason +
                     "\",replica=\"0\",stage=\"" + stage + "\"}");
  };
  EXPECT_LT(of("capacity", "5"), of("deferred", "5"));
  EXPECT_LT(of("deferred", "5"), of("capacity", "0"));
}

TEST_F(late_replica, engines_that_start_together_are_the_inner_loop_of_a_label) {
  const std::vector<register_engine> both{replica(0, 0), replica(1, 0)};
  ASSERT_TRUE(made.add_engines(both, 100).has_value());
  const std::string text = page();
  EXPECT_LT(text.find("reason=\"capacity\",replica=\"0\",stage=\"1\""),
            text.find("reason=\"deferred\",replica=\"0\",stage=\"0\""));
}

TEST_F(late_replica, may_have_a_sparse_id) {
  EXPECT_EQ(join(replica(0, 0)), 0);
  EXPECT_EQ(join(replica(0, 3)), 1);
  EXPECT_EQ(join(replica(0, 7)), 2);
  EXPECT_TRUE(tokens(0, 7, 1));
  EXPECT_FALSE(tokens(0, 1, 1));
}

TEST_F(late_replica, of_another_stage_may_have_the_same_id) {
  EXPECT_EQ(join(replica(0, 0)), 0);
  EXPECT_EQ(join(replica(1, 0)), 1);
  tokens(0, 0, 3);
  tokens(1, 0, 4);
  EXPECT_EQ(value("vllm:generation_tokens_total{model_name=\"m\",replica=\"0\",stage=\"0\"}"), "3.0");
  EXPECT_EQ(value("vllm:generation_tokens_total{model_name=\"m\",replica=\"0\",stage=\"1\"}"), "4.0");
}

TEST_F(late_replica, that_repeats_its_registration_changes_nothing) {
  auto who = replica(0, 0);
  who.cache = cache_facts{16, 100, 0.9, "auto", true};
  EXPECT_EQ(join(who), 0);
  tokens(0, 0, 5);
  const std::string before = page();
  EXPECT_EQ(join(who, 300), 0);
  EXPECT_EQ(join(replica(0, 0, 0), 300), 0);
  EXPECT_EQ(page(), before);
}

TEST_F(late_replica, with_another_index_than_its_own_is_refused) {
  join(replica(0, 0));
  const std::string before = page();
  const failure why = refusal(replica(0, 0, 4));
  EXPECT_EQ(why.code, errc::replica_conflict);
  EXPECT_THAT(why.message, HasSubstr("stage 0 replica 0"));
  EXPECT_THAT(why.message, HasSubstr("engine 4"));
  EXPECT_EQ(page(), before);
}

TEST_F(late_replica, with_the_index_of_another_is_refused) {
  join(replica(0, 0, 0));
  join(replica(0, 3, 1));
  const std::string before = page();
  const failure why = refusal(replica(1, 0, 1));
  EXPECT_EQ(why.code, errc::replica_conflict);
  EXPECT_THAT(why.message, HasSubstr("stage 0 replica 3"));
  EXPECT_EQ(page(), before);
  EXPECT_EQ(join(replica(1, 0)), 2);
}

TEST_F(late_replica, that_is_refused_takes_those_of_the_same_call_with_it) {
  join(replica(0, 0, 0));
  const std::string before = page();
  const std::vector<register_engine> batch{replica(1, 0), replica(2, 0, 0)};
  EXPECT_FALSE(made.add_engines(batch, 100).has_value());
  EXPECT_EQ(page(), before);
  EXPECT_EQ(made.find({1}, {0}), nullptr);
}

TEST_F(late_replica, with_an_id_that_cannot_be_is_refused) {
  EXPECT_EQ(refusal(replica(-1, 0)).code, errc::invalid_request);
  EXPECT_EQ(refusal(replica(0, -1)).code, errc::invalid_request);
  EXPECT_EQ(refusal(replica(0, 0, -1)).code, errc::invalid_request);
  EXPECT_EQ(refusal(replica(0, 0, std::numeric_limits<std::int32_t>::max())).code, errc::invalid_request);
  auto drafts_too_much = replica(0, 0);
  drafts_too_much.speculative_tokens = 1 << 30;
  EXPECT_EQ(refusal(drafts_too_much).code, errc::invalid_request);
  auto impossible_cache = replica(0, 0);
  impossible_cache.cache = cache_facts{16, std::numeric_limits<std::int64_t>::max(), 0.9, "auto", true};
  EXPECT_EQ(refusal(impossible_cache).code, errc::invalid_request);
}

TEST_F(late_replica, gets_an_index_that_was_never_given) {
  EXPECT_EQ(join(replica(0, 0, 4)), 4);
  EXPECT_EQ(join(replica(0, 1)), 5);
  made.record(engine_departed{{0}, {1}});
  EXPECT_EQ(join(replica(0, 2)), 6);
}

TEST_F(late_replica, that_nobody_registered_is_dropped_and_counted) {
  join(replica(0, 0));
  const auto before = lines_about(0, 0);
  EXPECT_FALSE(tokens(9, 0, 5));
  EXPECT_EQ(bad_count("unknown_engine"), "1.0");
  EXPECT_EQ(lines_about(0, 0), before);
}

/// A replica under load that then leaves.
struct departed_replica : exporter_fixture {
  departed_replica() {
    join(replica(0, 0));
    report.scheduler = scheduler_snapshot{5, 2, 1, 0.75, {}};
    report.generation_tokens = 9;
    made.record(report, 100);
    made.record(engine_departed{{0}, {0}});
  }
  engine_report report;
  std::string gauge(const std::string& name) { return value(name + "{model_name=\"m\",replica=\"0\",stage=\"0\"}"); }
};

TEST_F(departed_replica, keeps_its_series_and_counters) { EXPECT_EQ(gauge("vllm:generation_tokens_total"), "9.0"); }

TEST_F(departed_replica, shows_no_load) {
  made.update_waiting(100);
  EXPECT_EQ(gauge("vllm:num_requests_running"), "0.0");
  EXPECT_EQ(gauge("vllm:num_requests_waiting"), "0.0");
  EXPECT_EQ(gauge("vllm:kv_cache_usage_perc"), "0.0");
  EXPECT_EQ(
      value("vllm:num_requests_waiting_by_reason{model_name=\"m\",reason=\"deferred\",replica=\"0\",stage=\"0\"}"),
      "0.0");
  EXPECT_EQ(value("vllm_omni:stage_waiting_requests{model_name=\"m\",stage=\"0\"}"), "0.0");
}

TEST_F(departed_replica, last_report_still_counts_but_brings_no_load_back) {
  EXPECT_TRUE(made.record(report, 100));
  EXPECT_EQ(gauge("vllm:generation_tokens_total"), "18.0");
  EXPECT_EQ(gauge("vllm:num_requests_running"), "0.0");
}

TEST_F(departed_replica, that_comes_back_goes_on_under_its_index_awake) {
  made.record(sleep_state{2});
  EXPECT_EQ(join(replica(0, 0), 500), 0);
  made.record(report, 500);
  EXPECT_EQ(gauge("vllm:generation_tokens_total"), "18.0");
  EXPECT_EQ(gauge("vllm:num_requests_running"), "5.0");
  EXPECT_EQ(value("vllm:engine_sleep_state{model_name=\"m\",replica=\"0\",sleep_state=\"awake\",stage=\"0\"}"), "1.0");
}

} // namespace
} // namespace omni::test
