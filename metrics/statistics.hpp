#pragma once

#include "metrics/exporter.hpp"
#include "metrics/log_line.hpp"
#include "metrics/server_exporter.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace omni {

struct statistics_options {
  std::string model_name;                            // of all families: the served name
  label_scheme labels = label_scheme::stage_replica; // how series name their engine
  std::int32_t max_model_len = 0;                    // largest context of all stages, tokens; 0: not known yet
  bool created_series = true;                        // `_created` lines; a fifth of the page
  bool engines = true;                               // false: only the process and its HTTP server
};

/// One moment on two clocks: wall time (seconds since 1970) is what a page shows, monotonic time is what intervals are
/// measured with.
struct instant {
  double wall_s = 0;
  double mono_s = 0;
};

/// All statistics of one server: the page, and the console lines. Plain data, used by one thread (the stat logger's):
/// no clock, no output. Never throws because of a value it is given.
class statistics {
public:
  statistics(const statistics_options& options, instant now);

  struct registration {
    std::vector<std::int32_t> engines; // flat indexes, in the order asked for
    std::vector<log_line> lines;       // what to say of caches that are new
  };
  /// See exporter::add_engines. Engines that start together go into one call.
  expected<registration> add_engines(std::span<const register_engine> engines, instant now);

  /// False: the report came from a replica that nobody registered; it was dropped and counted.
  bool record(const engine_report& report, instant now);
  void record(const pipeline_report& report, instant now);
  void record(const engine_departed& who);
  void record(const engine_health& who, instant now);
  void record(const sleep_state& state);
  void record(const http_report& report, instant now);

  /// The console lines of the interval since the last call, engine by engine.
  std::vector<log_line> log(double mono_s);
  /// The page, to be rendered by any thread.
  snapshot take(const process_facts& process, instant now);

private:
  engine_log* log_of(stage_id stage, replica_id replica);

  metric_registry registry_;
  bad_value_series bad_;
  server_exporter server_;
  std::optional<exporter> exporter_;        // none without engine statistics
  std::map<std::int32_t, engine_log> logs_; // by engine
};

} // namespace omni
