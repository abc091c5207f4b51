#include "metrics/engine_series.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace omni {
namespace {

/// Makes the series of one family for several engines at once.
class binder {
public:
  binder(std::span<engine_series* const> engines, const common_labels& labels, std::span<const double> request_bounds,
         metric_registry& registry, double wall_s)
      : engines_(engines), labels_(labels), request_bounds_(request_bounds), registry_(registry), wall_s_(wall_s) {}

  void bind(family_id id, prometheus::Gauge* engine_series::*member) {
    for (engine_series* one : engines_) one->*member = &registry_.gauge(id, of(id, *one), wall_s_);
  }
  void bind(family_id id, counter_series engine_series::*member) {
    for (engine_series* one : engines_) one->*member = counter_series(registry_.counter(id, of(id, *one), wall_s_));
  }
  void bind(family_id id, histogram_series engine_series::*member) {
    const bucket_list list = family_of(id).buckets;
    const auto bounds = list == bucket_list::request_tokens ? request_bounds_ : bucket_bounds(list);
    for (engine_series* one : engines_)
      one->*member = histogram_series(registry_.histogram(id, of(id, *one), bounds, wall_s_), bounds.size() + 1);
  }
  template <std::size_t N>
  void bind(family_id id, std::string_view label, const std::string_view (&values)[N],
            std::array<prometheus::Gauge*, N> engine_series::*member) {
    for (std::size_t i = 0; i < N; ++i)
      for (engine_series* one : engines_)
        (one->*member)[i] = &registry_.gauge(id, of(id, *one, label, values[i]), wall_s_);
  }
  template <std::size_t N>
  void bind(family_id id, std::string_view label, const std::string_view (&values)[N],
            std::array<counter_series, N> engine_series::*member) {
    for (std::size_t i = 0; i < N; ++i)
      for (engine_series* one : engines_)
        (one->*member)[i] = counter_series(registry_.counter(id, of(id, *one, label, values[i]), wall_s_));
  }
  /// Speculation: engines that draft nothing have no such series, and positions are the inner loop.
  void bind_speculation() {
    constexpr family_id counts[] = {family_id::spec_drafts, family_id::spec_draft_tokens,
                                    family_id::spec_accepted_tokens};
    for (const family_id id : counts)
      for (engine_series* one : engines_)
        if (one->facts.speculative_tokens > 0)
          one->spec_counts.emplace_back(registry_.counter(id, of(id, *one), wall_s_));
    constexpr family_id per_position = family_id::spec_accepted_per_position;
    for (engine_series* one : engines_)
      for (std::int32_t i = 0; i < one->facts.speculative_tokens; ++i)
        one->spec_accepted_at.emplace_back(
            registry_.counter(per_position, of(per_position, *one, "position", std::to_string(i)), wall_s_));
  }

private:
  label_set of(family_id id, const engine_series& one) const {
    return labels_.of_engine(id, one.facts.stage, one.facts.replica, *one.facts.engine);
  }
  label_set of(family_id id, const engine_series& one, std::string_view label, std::string_view value) const {
    return with(of(id, one), label, value);
  }

  std::span<engine_series* const> engines_;
  const common_labels& labels_;
  std::span<const double> request_bounds_;
  metric_registry& registry_;
  double wall_s_;
};

void bind_scheduler(binder& to) {
  using id = family_id;
  using s = engine_series;
  to.bind(id::estimated_flops, &s::flops);
  to.bind(id::estimated_read_bytes, &s::read_bytes);
  to.bind(id::estimated_write_bytes, &s::write_bytes);
  to.bind(id::requests_running, &s::running);
  to.bind(id::requests_waiting, &s::waiting);
  to.bind(id::requests_waiting_by_reason, "reason", waiting_reason_labels, &s::waiting_by_reason);
  to.bind(id::engine_sleep_state, "sleep_state", sleep_state_labels, &s::sleep);
  to.bind(id::kv_cache_usage, &s::kv_cache_usage);
}

void bind_counters(binder& to) {
  using id = family_id;
  using s = engine_series;
  to.bind(id::prefix_cache_queries, &s::prefix_queries);
  to.bind(id::prefix_cache_hits, &s::prefix_hits);
  to.bind(id::external_cache_queries, &s::external_queries);
  to.bind(id::external_cache_hits, &s::external_hits);
  to.bind(id::mm_cache_queries, &s::mm_queries);
  to.bind(id::mm_cache_hits, &s::mm_hits);
  to.bind(id::preemptions, &s::preemptions);
  to.bind(id::prompt_tokens, &s::prompt_tokens);
  to.bind(id::prompt_tokens_by_source, "source", prompt_source_labels, &s::prompt_by_source);
  to.bind(id::prompt_tokens_cached, &s::prompt_tokens_cached);
  to.bind(id::prompt_tokens_cached_by_source, "source", cached_source_labels, &s::cached_by_source);
  to.bind(id::generation_tokens, &s::generation_tokens);
  to.bind(id::request_success, "finished_reason", finish_reason_labels, &s::success);
}

void bind_histograms(binder& to) {
  using id = family_id;
  using s = engine_series;
  to.bind(id::request_prompt_tokens, &s::request_prompt);
  to.bind(id::request_generation_tokens, &s::request_generation);
  to.bind(id::iteration_tokens, &s::iteration);
  to.bind(id::request_max_generation_tokens, &s::max_generation);
  to.bind(id::request_params_n, &s::params_n);
  to.bind(id::request_params_max_tokens, &s::params_max_tokens);
  to.bind(id::time_to_first_token, &s::first_token);
  to.bind(id::inter_token_latency, &s::inter_token);
  to.bind(id::request_time_per_output_token, &s::time_per_output_token);
  to.bind(id::e2e_request_latency, &s::e2e);
  to.bind(id::request_queue_time, &s::queue);
  to.bind(id::request_inference_time, &s::inference);
  to.bind(id::request_prefill_time, &s::prefill);
  to.bind(id::request_decode_time, &s::decode);
  to.bind(id::request_num_preemptions, &s::request_preemptions);
  to.bind(id::request_prefill_computed_tokens, &s::prefill_computed);
}

} // namespace

label_set common_labels::of_engine(family_id id, stage_id stage, replica_id replica, std::int32_t engine) const {
  label_set labels;
  if (family_of(id).scope == family_scope::engine) labels = of_model();
  if (scheme == label_scheme::engine) {
    labels.emplace_back("engine", std::to_string(engine));
  } else {
    labels.emplace_back("stage", std::to_string(stage.value));
    labels.emplace_back("replica", std::to_string(replica.value));
  }
  return labels;
}

void counter_series::add(double amount, bad_value_counts& bad) {
  if (amount != 0) child_->Increment(checked(amount, bad));
}

void histogram_series::add(const observations& more, bad_value_counts& bad) {
  if (more.empty()) return;
  const bool fits = more.counts.size() == bucket_bounds(more.list).size() + 1 && more.counts.size() >= buckets_ &&
                    std::isfinite(more.sum) && more.sum >= 0 &&
                    std::all_of(more.counts.begin(), more.counts.end(), [](std::int64_t n) { return n >= 0; });
  if (!fits) {
    ++bad[std::size_t(bad_value::malformed)];
    return;
  }
  std::vector<double> increments(more.counts.begin(), more.counts.begin() + std::ptrdiff_t(buckets_));
  // What the child has no bounds for is above all of those it has.
  for (std::size_t i = buckets_; i < more.counts.size(); ++i) increments.back() += double(more.counts[i]);
  child_->ObserveMultiple(increments, more.sum);
}

void engine_series::set_load(const scheduler_snapshot& now, bad_value_counts& bad) {
  const double capacity = checked(double(now.waiting), bad);
  const double deferred = checked(double(now.deferred), bad);
  running->Set(checked(double(now.running), bad));
  waiting->Set(capacity + deferred);
  waiting_by_reason[0]->Set(capacity);
  waiting_by_reason[1]->Set(deferred);
  kv_cache_usage->Set(checked(now.kv_cache_usage, bad));
  waiting_now = std::int32_t(std::min(capacity + deferred, 2147483647.0));
  capacity_now = std::int32_t(capacity);
}

void engine_series::set_sleep(std::optional<std::size_t> state) {
  for (std::size_t i = 0; i < sleep.size(); ++i) sleep[i]->Set(i == state ? 1 : 0);
}

void bind_series(std::span<engine_series* const> engines, const common_labels& labels,
                 std::span<const double> request_bounds, metric_registry& registry, double wall_s) {
  binder to(engines, labels, request_bounds, registry, wall_s);
  to.bind_speculation();
  bind_scheduler(to);
  bind_counters(to);
  bind_histograms(to);
  for (engine_series* one : engines) one->set_sleep(0);
}

} // namespace omni
