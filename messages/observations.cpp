#include "messages/observations.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace omni {
namespace {

constexpr auto request_latency = std::to_array({0.3,  0.5,  0.8,  1.0,  1.5,   2.0,   2.5,   5.0,   10.0,   15.0,  20.0,
                                                30.0, 40.0, 50.0, 60.0, 120.0, 240.0, 480.0, 960.0, 1920.0, 7680.0});
constexpr auto time_to_first_token =
    std::to_array({0.001, 0.005, 0.01, 0.02, 0.04, 0.06, 0.08, 0.1,  0.25,  0.5,   0.75,
                   1.0,   2.5,   5.0,  7.5,  10.0, 20.0, 40.0, 80.0, 160.0, 640.0, 2560.0});
constexpr auto inter_token_latency = std::to_array(
    {0.01, 0.025, 0.05, 0.075, 0.1, 0.15, 0.2, 0.3, 0.4, 0.5, 0.75, 1.0, 2.5, 5.0, 7.5, 10.0, 20.0, 40.0, 80.0});
constexpr auto iteration_tokens =
    std::to_array<double>({1, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384});
// Up to the largest context that a 32-bit position can have.
constexpr auto request_tokens =
    std::to_array<double>({1,   2,   5,   1e1, 2e1, 5e1, 1e2, 2e2, 5e2, 1e3, 2e3, 5e3, 1e4, 2e4, 5e4,
                           1e5, 2e5, 5e5, 1e6, 2e6, 5e6, 1e7, 2e7, 5e7, 1e8, 2e8, 5e8, 1e9, 2e9});
constexpr auto request_params_n = std::to_array<double>({1, 2, 5, 10, 20});
constexpr auto request_num_preemptions = std::to_array<double>({1, 2, 3, 4, 5, 10, 20});
constexpr auto pipeline_seconds = std::to_array<double>({0.05, 0.1, 0.25, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300});
constexpr auto fast_seconds =
    std::to_array<double>({0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 60});
constexpr auto real_time_factor = std::to_array<double>({0.1, 0.25, 0.5, 0.75, 0.9, 1, 1.25, 1.5, 2, 5, 10});
constexpr auto bytes =
    std::to_array<double>({1024, 4096, 16384, 65536, 262144, 1048576, 4194304, 16777216, 67108864, 268435456});
constexpr auto http_seconds = std::to_array<double>(
    {0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5, 5, 7.5, 10, 30, 60});
constexpr auto http_handler_seconds = std::to_array<double>({0.1, 0.5, 1});
constexpr auto client_default =
    std::to_array<double>({0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10});

void note(bad_value_counts& bad, bad_value what, std::int64_t times) { bad[std::size_t(what)] += times; }

} // namespace

std::span<const double> bucket_bounds(bucket_list list) {
  switch (list) {
  case bucket_list::request_latency:
    return request_latency;
  case bucket_list::time_to_first_token:
    return time_to_first_token;
  case bucket_list::inter_token_latency:
    return inter_token_latency;
  case bucket_list::iteration_tokens:
    return iteration_tokens;
  case bucket_list::request_tokens:
    return request_tokens;
  case bucket_list::request_params_n:
    return request_params_n;
  case bucket_list::request_num_preemptions:
    return request_num_preemptions;
  case bucket_list::pipeline_seconds:
    return pipeline_seconds;
  case bucket_list::fast_seconds:
    return fast_seconds;
  case bucket_list::real_time_factor:
    return real_time_factor;
  case bucket_list::bytes:
    return bytes;
  case bucket_list::http_seconds:
    return http_seconds;
  case bucket_list::http_handler_seconds:
    return http_handler_seconds;
  case bucket_list::client_default:
    return client_default;
  case bucket_list::none:
    return {};
  }
  return {};
}

double checked(double value, bad_value_counts& bad) {
  if (!std::isfinite(value)) {
    note(bad, bad_value::not_finite, 1);
    return 0;
  }
  if (value < 0) {
    note(bad, bad_value::negative, 1);
    return 0;
  }
  return value;
}

std::int64_t checked(std::int64_t value, bad_value_counts& bad) {
  if (value >= 0) return value;
  note(bad, bad_value::negative, 1);
  return 0;
}

void observations::add(double value, bad_value_counts& bad, std::int64_t times) {
  if (!std::isfinite(value)) {
    note(bad, bad_value::not_finite, times);
    return;
  }
  if (value < 0) {
    note(bad, bad_value::negative, times);
    value = 0;
  }
  const auto bounds = bucket_bounds(list);
  if (counts.empty()) counts.resize(bounds.size() + 1);
  counts[std::size_t(std::lower_bound(bounds.begin(), bounds.end(), value) - bounds.begin())] += times;
  sum += value * double(times);
}

void observations::merge(const observations& later) {
  OMNI_CHECK(list == later.list, "observations of two bucket lists cannot be merged");
  if (later.empty()) return;
  if (counts.empty()) counts.resize(later.counts.size());
  OMNI_CHECK(counts.size() == later.counts.size(), "observations of one bucket list differ in length");
  for (std::size_t i = 0; i < counts.size(); ++i) counts[i] += later.counts[i];
  sum += later.sum;
}

std::int64_t observations::count() const { return std::accumulate(counts.begin(), counts.end(), std::int64_t{0}); }

} // namespace omni
