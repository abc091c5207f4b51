#include "metrics/lazy_series.hpp"

namespace omni {

void lazy_series::add(family_id id, const label_set& labels, double amount, double wall_s, bad_value_counts& bad) {
  if (amount == 0) return;
  auto found = counters_.find({id, labels});
  if (found == counters_.end())
    found = counters_.emplace(key{id, labels}, counter_series(registry_.counter(id, labels, wall_s))).first;
  found->second.add(amount, bad);
}

void lazy_series::add(family_id id, const label_set& labels, const observations& more, double wall_s,
                      bad_value_counts& bad) {
  if (more.empty()) return;
  auto found = histograms_.find({id, labels});
  if (found == histograms_.end()) {
    const auto bounds = bucket_bounds(family_of(id).buckets);
    histogram_series made(registry_.histogram(id, labels, bounds, wall_s), bounds.size() + 1);
    found = histograms_.emplace(key{id, labels}, made).first;
  }
  found->second.add(more, bad);
}

prometheus::Gauge& lazy_series::gauge(family_id id, const label_set& labels, double wall_s) {
  auto found = gauges_.find({id, labels});
  if (found == gauges_.end()) found = gauges_.emplace(key{id, labels}, &registry_.gauge(id, labels, wall_s)).first;
  return *found->second;
}

} // namespace omni
