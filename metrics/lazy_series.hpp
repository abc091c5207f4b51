#pragma once

#include "metrics/engine_series.hpp"

#include <map>
#include <utility>

namespace omni {

/// Series that appear with their first use, as vLLM-Omni's labelled families do. Labels come from this program or from
/// registered engines, never from a client, so their number is bounded.
class lazy_series {
public:
  explicit lazy_series(metric_registry& registry) : registry_(registry) {}

  void add(family_id id, const label_set& labels, double amount, double wall_s, bad_value_counts& bad);
  void add(family_id id, const label_set& labels, const observations& more, double wall_s, bad_value_counts& bad);
  prometheus::Gauge& gauge(family_id id, const label_set& labels, double wall_s);

private:
  using key = std::pair<family_id, label_set>;
  metric_registry& registry_;
  std::map<key, counter_series> counters_;
  std::map<key, histogram_series> histograms_;
  std::map<key, prometheus::Gauge*> gauges_;
};

} // namespace omni
