#pragma once

#include "kernels/core/op_context.hpp"

#include <algorithm>
#include <cstdint>

namespace omni::cpu {

// Time per value of common row operations, for the guesses below; any recent core is within a factor of two.
inline constexpr double norm_ns = 0.25;
inline constexpr double quantise_ns = 0.5;

/// Calls body(begin, end) over pieces of [0, count). `cost_ns` is a guess of the time of one; work that is shorter than
/// a helper takes to come is done at once by the calling thread.
template <class Body>
void for_ranges(const op_context& context, std::int64_t count, double cost_ns, Body&& body) {
  constexpr double smallest_piece_ns = 1200;
  const auto pieces = static_cast<std::int64_t>(static_cast<double>(count) * cost_ns / smallest_piece_ns);
  const std::int64_t most = 4 * static_cast<std::int64_t>(context.lane.threads());
  const std::int64_t chunks = std::clamp<std::int64_t>(std::min(pieces, count), 1, most);
  if (chunks == 1 || context.lane.threads() == 1) {
    body(std::int64_t{0}, count);
    return;
  }
  context.lane.parallel(chunks, [&](std::int64_t i) { body(count * i / chunks, count * (i + 1) / chunks); });
}

} // namespace omni::cpu
