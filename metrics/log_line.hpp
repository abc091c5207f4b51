#pragma once

#include "messages/report.hpp"

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

namespace omni {

/// One line for the console.
struct log_line {
  bool idle = false; // nothing went on, now or the time before: for the debug level
  std::string text;
};

/// Hit rate of a cache over its most recent 1000 requests. It lives on over log lines.
class hit_window {
public:
  void add(const cache_counts& more);
  [[nodiscard]] bool empty() const { return recent_.empty(); }
  /// hits / queries, 0 without queries.
  [[nodiscard]] double rate() const;

private:
  std::deque<cache_counts> recent_; // oldest first
  cache_counts total_;
};

/// What one engine's console lines say: the interval since the last ones, and the load as last reported. Seconds are on
/// one monotonic clock of the caller.
class engine_log {
public:
  engine_log(std::int32_t engine, std::string device, stage_unit unit, double now_s);

  void record(const engine_report& report);
  /// The replica has left: its load is 0 until it has joined again, whatever reports still arrive.
  void departed() {
    load_ = {};
    gone_ = true;
  }
  void joined() { gone_ = false; }
  /// The lines of the interval that ends now, then starts the next one. A second line only if its feature was used.
  std::vector<log_line> log(double now_s);
  /// Says how large the cache is; none if it has no blocks.
  [[nodiscard]] std::vector<log_line> cache_known(std::int64_t blocks) const;

private:
  struct interval {
    double prompt_tokens = 0; // computed ones
    double generation_tokens = 0;
    double units = 0;
    std::int64_t preemptions = 0;
    speculation_counts speculation;
    work_estimate work;
  };
  struct rates {
    double prompt = 0;
    double generation = 0;
    double units = 0;
    [[nodiscard]] bool nothing() const { return prompt == 0 && generation == 0 && units == 0; }
  };

  [[nodiscard]] std::string main_line(const rates& now) const;

  std::string prefix_; // "Engine 000: "
  std::string device_;
  stage_unit unit_;
  double since_s_;
  interval current_;
  rates last_;
  scheduler_snapshot load_;
  bool gone_ = false;
  hit_window prefix_cache_;
  hit_window external_cache_;
  hit_window mm_cache_;
};

} // namespace omni
