#pragma once

#include <cstdint>

namespace omni {

/// A point in time or a span: microseconds on the clock of the actor system. Steady, zero is arbitrary, virtual in
/// tests. Plain classes never read a clock: `now` is a parameter.
using time_us = std::int64_t;

constexpr double in_seconds(time_us span) { return double(span) * 1e-6; }
constexpr time_us in_us(double seconds) { return time_us(seconds * 1e6); }

} // namespace omni
