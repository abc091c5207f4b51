#pragma once

#include "messages/report.hpp"
#include "metrics/bad_values.hpp"
#include "metrics/lazy_series.hpp"
#include "metrics/process_facts.hpp"

#include <array>

namespace omni {

/// The families of the process and of its HTTP server. They are on the page with and without statistics. Used by one
/// thread; `wall_s` is seconds since 1970.
class server_exporter {
public:
  /// `registry` and `bad` must outlive this.
  server_exporter(metric_registry& registry, bad_value_series& bad, double wall_s);

  /// Counts one answer. Routes that programs poll (health, metrics, version) are left out, as in vLLM.
  void record(const http_report& report, double wall_s);
  /// Takes in what the process looks like now; for just before a page is taken.
  void record(const process_facts& facts, double wall_s);

private:
  bad_value_series& bad_;
  lazy_series lazy_;
  histogram_series highr_;
  double cpu_s_ = 0; // booked so far
};

} // namespace omni
