#pragma once

#include "messages/control.hpp"
#include "metrics/statistics.hpp"

#include <functional>
#include <memory>

namespace omni {

struct stat_logger_options {
  statistics_options statistics;
  double interval_s = 10;                       // between console lines
  std::function<double()> wall_s;               // seconds since 1970
  std::function<process_facts()> process;       // what the process looks like now
  std::function<void(const log_line&)> print;   // to the console
  std::function<void(const std::string&)> warn; // the operator, in a sentence
};

/// Asks for the console lines now: one message, no waiting. Nothing happens without a logger (statistics are off, or
/// not begun), or with one that has ended.
void ask_for_lines(const stat_logger_actor& logger);

/// Counts what the others report. The numbers are `statistics`' business; this one receives, and keeps the interval.
class stat_logger {
public:
  stat_logger(stat_logger_actor::pointer self, stat_logger_options options);

  void on_register(const register_engines& what);
  void on_departed(const engine_departed& who);
  void on_report(const engine_report& what);
  void on_report(const pipeline_report& what) { statistics_.record(what, now()); }
  void on_report(const http_report& what) { statistics_.record(what, now()); }
  void print_lines();
  void print_timing(const request_timeline& of);
  void on_interval();
  /// The values are copied here; another actor makes the text, so a large page delays no report.
  caf::result<metrics_page> on_page();

private:
  void schedule_interval();
  [[nodiscard]] instant now() const { return {options_.wall_s(), in_seconds(now_us(self_))}; }

  stat_logger_actor::pointer self_;
  stat_logger_options options_;
  statistics statistics_;
  bool met_stranger_ = false; // a replica that nobody registered; said once
};

/// The behaviour of the `stat_logger_actor`. Scheduled.
stat_logger_actor::behavior_type stat_logger_behavior(stat_logger_actor::pointer self, stat_logger_options options);

} // namespace omni
