#include "metrics/playback.hpp"
#include "metrics/statistics.hpp"
#include "test/metrics/page_text.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

// What docs/ says about metrics must be true of the page.

namespace omni::test {
namespace {

using json = nlohmann::json;

std::string read_doc(const std::string& name) {
  std::ifstream in(std::filesystem::path(OMNI_SOURCE_DIR) / "docs" / name);
  std::ostringstream text;
  text << in.rdbuf();
  EXPECT_FALSE(text.str().empty()) << name;
  return text.str();
}

/// A page on which everything has moved at least once.
std::string full_page() {
  constexpr instant now{1.79e9, 100};
  statistics all({"m"}, now);
  register_engine who;
  who.speculative_tokens = 1;
  who.cache = cache_facts{16, 10, 0.9, "auto", true};
  register_engine next;
  next.stage.value = 1;
  const std::vector<register_engine> both{who, next};
  EXPECT_TRUE(all.add_engines(both, now).has_value());
  engine_report report;
  count_sound(report.audio, 24000, 24000, 0.5, report.bad);
  report.audio.ttfp.add(1, report.bad);
  playback listener;
  listener.packet(1, 24000, 24000);
  listener.close(report.audio, report.bad);
  report.audio.skipped = 1;
  report.stage_gen_time.add(1, report.bad);
  transfer_totals& edge = report.transfer({0}, {0}, {1}, {0});
  for (observations* part : {&edge.size, &edge.tx, &edge.rx, &edge.in_flight}) part->add(1, report.bad);
  all.record(report, now);
  pipeline_report ended;
  ended.add_failure(failed_as::unknown);
  ended.speech_completed = 1;
  ended.speech_aborted[0] = 1;
  all.record(ended, now);
  all.record(http_report{"/v1/models", "GET", 200, 1, 1, 0.1}, now);
  all.record(engine_health{who.stage, who.replica, true}, now);
  return render(all.take({1.0, 1.0, 1.0, 1.0, 1.0, 1.0}, now));
}

/// Labels by name of sample.
std::map<std::string, std::set<std::string>> exposed() {
  std::map<std::string, std::set<std::string>> names;
  for (const auto& [series, value] : samples(full_page())) {
    auto& labels = names[series.substr(0, series.find('{'))];
    for (const auto& [label, text] : labels_of(series)) labels.insert(label);
  }
  return names;
}

/// What a PromQL expression speaks of.
struct mentioned {
  std::set<std::string> metrics;
  std::set<std::string> labels;
};

bool is_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':'; }

/// The names in a list up to `end`; each counts as a label if `before` follows it.
std::size_t take_labels(const std::string& text, std::size_t at, char end, std::string_view before, mentioned& found) {
  while (at < text.size() && text[at] != end) {
    if (text[at] == '"') {
      at = text.find('"', at + 1) + 1;
    } else if (is_name(text[at])) {
      const std::size_t from = at;
      while (at < text.size() && is_name(text[at])) ++at;
      if (before.find(text[at]) != std::string_view::npos) found.labels.insert(text.substr(from, at - from));
    } else {
      ++at;
    }
  }
  return at + 1;
}

/// Reads the subset of PromQL that the documents use.
mentioned read_expression(const std::string& text) {
  static const std::set<std::string> words{"and", "or", "unless", "offset", "bool"};
  mentioned found;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (c == '{') {
      at = take_labels(text, at + 1, '}', "=!~", found);
    } else if (c == '[') {
      at = text.find(']', at) + 1;
    } else if (std::isdigit(static_cast<unsigned char>(c)) != 0) {
      while (at < text.size() && (is_name(text[at]) || text[at] == '.')) ++at; // 0.99, 15m
    } else if (is_name(c)) {
      const std::size_t from = at;
      while (at < text.size() && is_name(text[at])) ++at;
      const std::string word = text.substr(from, at - from);
      while (at < text.size() && text[at] == ' ') ++at;
      const bool opens = at < text.size() && text[at] == '(';
      if (word == "by" && opens) {
        at = take_labels(text, at + 1, ')', ", )", found);
      } else if (!opens && !words.contains(word) && text.substr(at, 3) != "by ") {
        found.metrics.insert(word);
      }
    } else {
      ++at;
    }
  }
  return found;
}

void expect_exposed(const std::string& expression) {
  static const auto names = exposed();
  SCOPED_TRACE(expression);
  const mentioned all = read_expression(expression);
  std::set<std::string> labels;
  for (const std::string& metric : all.metrics) {
    const auto found = names.find(metric);
    ASSERT_NE(found, names.end()) << metric << " is not on the page";
    labels.insert(found->second.begin(), found->second.end());
  }
  labels.insert("instance"); // Prometheus adds it
  for (const std::string& label : all.labels) EXPECT_TRUE(labels.contains(label)) << "no metric here has " << label;
}

TEST(read_expression, finds_metrics_and_labels) {
  const mentioned x =
      read_expression("histogram_quantile(0.9, sum by (le, a) (rate(vllm:x_bucket{b=~\"q|w\"}[5m]))) > 1.5"
                      " and y offset 15m == 1");
  EXPECT_EQ(x.metrics, (std::set<std::string>{"vllm:x_bucket", "y"}));
  EXPECT_EQ(x.labels, (std::set<std::string>{"le", "a", "b"}));
}

TEST(dashboard, asks_only_for_what_is_on_the_page) {
  const json dashboard = json::parse(read_doc("grafana/omni-serve.json"));
  std::size_t expressions = 0;
  for (const json& panel : dashboard.at("panels"))
    for (const json& target : panel.value("targets", json::array())) {
      expect_exposed(target.at("expr"));
      ++expressions;
    }
  EXPECT_GT(expressions, 0U);
  for (const json& variable : dashboard.at("templating").at("list")) {
    const std::string query = variable.at("query");
    constexpr std::string_view call = "label_values(";
    if (!query.starts_with(call)) continue;
    const std::size_t comma = query.find(", ");
    ASSERT_NE(comma, std::string::npos) << query;
    expect_exposed("sum by (" + query.substr(comma + 2, query.size() - comma - 3) + ") (" +
                   query.substr(call.size(), comma - call.size()) + ")");
  }
}

TEST(dashboard, has_rows_for_text_audio_and_replicas) {
  std::set<std::string> rows;
  const json dashboard = json::parse(read_doc("grafana/omni-serve.json"));
  for (const json& panel : dashboard.at("panels"))
    if (panel.at("type") == "row") rows.insert(panel.at("title"));
  for (const char* row : {"Text", "Audio", "Stages and replicas"}) EXPECT_TRUE(rows.contains(row)) << row;
}

TEST(alerts, ask_only_for_what_is_on_the_page) {
  std::size_t rules = 0;
  for (const YAML::Node& group : YAML::Load(read_doc("grafana/alerts.yaml"))["groups"])
    for (const YAML::Node& rule : group["rules"]) {
      expect_exposed(rule["expr"].as<std::string>());
      ++rules;
    }
  EXPECT_GT(rules, 0U);
}

TEST(metrics_page, describes_every_family) {
  const std::string page = read_doc("metrics.md");
  for (const family& row : all_families())
    EXPECT_NE(page.find(std::string("`").append(row.name).append("`")), std::string::npos) << row.name;
}

} // namespace
} // namespace omni::test
