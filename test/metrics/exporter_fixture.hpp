#pragma once

#include "metrics/exporter.hpp"
#include "test/metrics/page_text.hpp"

#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

namespace omni::test {

/// An exporter with nothing registered, at 100 s wall time.
struct exporter_fixture : ::testing::Test {
  explicit exporter_fixture(label_scheme labels = label_scheme::stage_replica) : scheme(labels) {}

  label_scheme scheme;
  metric_registry registry{true};
  bad_value_series bad{registry, {"m", scheme}, 100};
  exporter made{{"m", scheme}, 1000, registry, bad, 100};

  static register_engine replica(std::int32_t stage, std::int32_t id, std::optional<std::int32_t> engine = {}) {
    register_engine who;
    who.stage.value = stage;
    who.replica.value = id;
    who.engine = engine;
    return who;
  }
  /// Registers and returns the index.
  std::int32_t join(const register_engine& who, double wall_s = 100) {
    const auto done = made.add_engines({&who, 1}, wall_s);
    EXPECT_TRUE(done.has_value()) << (done ? "" : done.error().message);
    return done ? done->front() : -1;
  }
  /// Registers what must be refused and returns the refusal.
  failure refusal(const register_engine& who) {
    const auto done = made.add_engines({&who, 1}, 100);
    EXPECT_FALSE(done.has_value());
    return done ? failure{} : done.error();
  }
  bool tokens(std::int32_t stage, std::int32_t id, std::int64_t count) {
    engine_report report;
    report.stage.value = stage;
    report.replica.value = id;
    report.generation_tokens = count;
    return made.record(report, 100);
  }

  std::string page() { return render(registry.take()); }
  /// The value of a series, or "" if it is not on the page.
  std::string value(const std::string& series) {
    const auto all = samples(page());
    const auto found = all.find(series);
    return found == all.end() ? "" : found->second;
  }
  std::string bad_count(const std::string& kind) {
    return value("omni_serve:bad_values_total{kind=\"" + kind + "\",model_name=\"m\"}");
  }
  /// All sample lines that carry the labels of a replica.
  std::vector<std::string> lines_about(std::int32_t stage, std::int32_t id) {
    const std::string replica_label = "replica=\"" + std::to_string(id) + "\"";
    const std::string stage_label = "stage=\"" + std::to_string(stage) + "\"";
    std::vector<std::string> lines;
    for (const auto& [series, text] : samples(page()))
      if (series.find(replica_label) != std::string::npos && series.find(stage_label) != std::string::npos)
        lines.push_back(series + " " + text);
    return lines;
  }
};

} // namespace omni::test
