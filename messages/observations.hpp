#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace omni {

/// The lists of upper bounds that histograms use. Values and their meaning: docs/metrics.md, "Buckets".
enum class bucket_list : std::uint8_t {
  request_latency,         // seconds
  time_to_first_token,     // seconds
  inter_token_latency,     // seconds
  iteration_tokens,        // tokens
  request_tokens,          // tokens: 1 2 5 10 ... 2e9; a page shows those that are not above the largest context
  request_params_n,        // samples
  request_num_preemptions, // times
  pipeline_seconds,        // seconds
  fast_seconds,            // seconds
  real_time_factor,        // ratio
  bytes,
  http_seconds,         // seconds, without labels: fine
  http_handler_seconds, // seconds, per handler: coarse
  client_default,       // the Prometheus client's own
  none,                 // count and sum only
};

/// Upper bounds of a list, ascending, inclusive; the unbounded last bucket is not in it.
[[nodiscard]] std::span<const double> bucket_bounds(bucket_list list);

/// Values that cannot be: each is counted once where it is met, and never thrown.
enum class bad_value : std::uint8_t {
  negative,       // a count, size or duration below zero; taken as zero
  not_finite,     // NaN or infinite; left out
  clock_back,     // a stamp earlier than the one before it; the interval is taken as zero
  unknown_engine, // a report of a replica that nobody registered; left out
  malformed,      // a report whose parts do not fit together; the part is left out
};
inline constexpr std::size_t bad_value_kinds = 5;
using bad_value_counts = std::array<std::int64_t, bad_value_kinds>;

/// `value` if it is finite and not negative; else the nearest usable value, counted in `bad`.
[[nodiscard]] double checked(double value, bad_value_counts& bad);
[[nodiscard]] std::int64_t checked(std::int64_t value, bad_value_counts& bad);

/// Observations of one quantity, put into buckets where they were made: any number of them takes the same room, and
/// merging loses none.
struct observations {
  bucket_list list = bucket_list::none; // fixed by the report's field; does not travel
  std::vector<std::int64_t> counts;     // [bounds + 1], not cumulative, the last above all bounds; empty: none observed
  double sum = 0;

  observations() = default;
  explicit observations(bucket_list which) : list(which) {}

  /// Counts `value` `times` times. NaN and infinities are left out, negative values become 0; both are counted in
  /// `bad`.
  void add(double value, bad_value_counts& bad, std::int64_t times = 1);
  /// Adds all that `later` holds; it must be of the same list.
  void merge(const observations& later);
  [[nodiscard]] bool empty() const { return counts.empty(); }
  [[nodiscard]] std::int64_t count() const;
};

} // namespace omni
