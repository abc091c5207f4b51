#pragma once

#include "messages/errc.hpp"
#include "messages/report.hpp"
#include "metrics/bad_values.hpp"
#include "metrics/engine_series.hpp"
#include "metrics/lazy_series.hpp"
#include "metrics/metric_registry.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <utility>
#include <vector>

namespace omni {

/// Turns reports into series: the families `vllm:*` of every engine and, unless labels are plain vLLM's, `vllm_omni:*`
/// of the pipeline. Used by one thread; no clock: `wall_s` is seconds since 1970, for the `_created` lines of series
/// that a call makes. Bad values are clamped and counted, never thrown.
class exporter {
public:
  /// `max_model_len`: the largest context of all stages as far as known, in tokens; it fixes the buckets of token
  /// counts together with that of the first engine. `registry` and `bad` must outlive this.
  exporter(common_labels labels, std::int32_t max_model_len, metric_registry& registry, bad_value_series& bad,
           double wall_s);

  /// Makes the series of replicas that start together, or of one that joins late; returns their flat indexes. What is
  /// known already stays as it is; a replica that had left is awake again. A refusal changes nothing:
  /// `replica_conflict` if a replica has another index or an index another replica, `invalid_request` for ids that
  /// cannot be.
  expected<std::vector<std::int32_t>> add_engines(std::span<const register_engine> engines, double wall_s);
  /// The replica's series and facts; null if it was never registered.
  [[nodiscard]] const engine_series* find(stage_id stage, replica_id replica) const;

  /// False: nobody registered the replica, and the report is dropped and counted as such.
  bool record(const engine_report& report, double wall_s);
  void record(const pipeline_report& report, double wall_s);
  void record(const engine_departed& who);
  void record(const engine_health& who, double wall_s);
  void record(const sleep_state& state);

  void set_stage_waiting(stage_id stage, std::int64_t waiting, double wall_s);
  /// Sets the gauges that several senders make together, from what each said last: every stage's waiting requests, and
  /// the pipeline's, of which some wait inside an engine. For just before a page is taken.
  void update_waiting(double wall_s);

private:
  using replica_key = std::pair<stage_id, replica_id>;

  expected<std::vector<std::int32_t>> assign_indexes(std::span<const register_engine> engines) const;
  void open_engine_families(std::int32_t max_model_len, double wall_s);
  void publish_cache(engine_series& engine, const cache_facts& facts, double wall_s);
  engine_series* series_of(stage_id stage, replica_id replica);
  void count_engine(engine_series& to, const engine_report& report, bad_value_counts& bad);
  void count_requests(engine_series& to, const engine_report& report, bad_value_counts& bad);
  void count_omni(const engine_series& of, const engine_report& report, double wall_s, bad_value_counts& bad);
  void count_rejections(const pipeline_report& report, bad_value_counts& bad);

  common_labels labels_;
  std::int32_t max_model_len_;
  metric_registry& registry_;
  bad_value_series& bad_;
  lazy_series lazy_;
  std::map<replica_key, std::unique_ptr<engine_series>> engines_;
  std::map<std::int32_t, replica_key> by_index_;
  std::vector<double> request_bounds_;
  std::vector<counter_series> rejections_;               // empty before the first engine
  std::array<std::int64_t, rejection_kinds> unbooked_{}; // rejections before it

  struct pipeline_series {
    prometheus::Gauge* running = nullptr;
    prometheus::Gauge* waiting = nullptr;
    histogram_series e2e, queue_wait;
    counter_series prompt_tokens, generation_tokens;
    double dispatched_now = 0, undispatched_now = 0; // as last reported
  };
  void open_pipeline(double wall_s);
  void set_pipeline_load(double waiting_inside);
  std::optional<pipeline_series> pipeline_; // none on plain vLLM's page
};

} // namespace omni
