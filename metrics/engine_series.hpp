#pragma once

#include "messages/report.hpp"
#include "metrics/metric_registry.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace omni {

/// How series name their engine.
enum class label_scheme : std::uint8_t {
  stage_replica, // stage="0",replica="3": vLLM-Omni's page
  engine,        // engine="1": plain vLLM's page, without the pipeline's families
};

/// The labels that series share.
struct common_labels {
  std::string model_name;
  label_scheme scheme = label_scheme::stage_replica;

  [[nodiscard]] label_set of_model() const { return {{"model_name", model_name}}; }
  /// Labels of an engine's series in the family `id`.
  [[nodiscard]] label_set of_engine(family_id id, stage_id stage, replica_id replica, std::int32_t engine) const;
};

/// A counter that only takes what a counter can take.
class counter_series {
public:
  counter_series() = default;
  explicit counter_series(prometheus::Counter& child) : child_(&child) {}
  void add(double amount, bad_value_counts& bad);
  void add(std::int64_t amount, bad_value_counts& bad) { add(double(amount), bad); }

private:
  prometheus::Counter* child_ = nullptr;
};

/// A histogram that is fed with what was put into buckets elsewhere.
class histogram_series {
public:
  histogram_series() = default;
  /// `buckets`: how many the child has, the unbounded one included; they are the first bounds of the observations'
  /// list.
  histogram_series(prometheus::Histogram& child, std::size_t buckets) : child_(&child), buckets_(buckets) {}
  void add(const observations& more, bad_value_counts& bad);

private:
  prometheus::Histogram* child_ = nullptr;
  std::size_t buckets_ = 0;
};

/// All series of one engine that exist from its registration on. There is no other place that an engine's series hang
/// on, so an engine that joins late cannot lack one.
struct engine_series {
  register_engine facts; // `engine` is set
  bool departed = false;
  std::int32_t waiting_now = 0;  // as last reported
  std::int32_t capacity_now = 0; // those of them that wait for room in the running batch

  std::vector<counter_series> spec_counts;      // drafts, draft tokens, accepted tokens; empty without speculation
  std::vector<counter_series> spec_accepted_at; // [speculative_tokens]
  counter_series flops, read_bytes, write_bytes;
  prometheus::Gauge* running = nullptr;
  prometheus::Gauge* waiting = nullptr;
  std::array<prometheus::Gauge*, std::size(waiting_reason_labels)> waiting_by_reason{};
  std::array<prometheus::Gauge*, std::size(sleep_state_labels)> sleep{};
  prometheus::Gauge* kv_cache_usage = nullptr;
  counter_series prefix_queries, prefix_hits, external_queries, external_hits, mm_queries, mm_hits;
  counter_series preemptions, prompt_tokens, prompt_tokens_cached, generation_tokens;
  std::array<counter_series, std::size(prompt_source_labels)> prompt_by_source;
  std::array<counter_series, std::size(cached_source_labels)> cached_by_source;
  std::array<counter_series, std::size(finish_reason_labels)> success;
  histogram_series request_prompt, request_generation, iteration, max_generation, params_n, params_max_tokens;
  histogram_series first_token, inter_token, time_per_output_token;
  histogram_series e2e, queue, inference, prefill, decode, request_preemptions, prefill_computed;

  void set_load(const scheduler_snapshot& now, bad_value_counts& bad);
  /// `state` indexes sleep_state_labels; none: an unknown state, all are 0.
  void set_sleep(std::optional<std::size_t> state);
};

/// Binds every series of `engines`, in the page's order for engines that start together: a family's own label is the
/// outer loop, engines the inner one. Used at start and for a late join alike; the families must be open.
/// `request_bounds`: the buckets of token counts.
void bind_series(std::span<engine_series* const> engines, const common_labels& labels,
                 std::span<const double> request_bounds, metric_registry& registry, double wall_s);

} // namespace omni
