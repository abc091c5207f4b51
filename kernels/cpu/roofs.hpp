#pragma once

#include <cstdint>
#include <span>

namespace omni::cpu {

// What one core can do at most, as loops to be timed: no step of a model goes beyond them.

/// Reads all values, with the widest vectors, and returns their sum, so that none can be left out.
float read_all(std::span<const float> values);

/// Multiply-adds between registers; returns how many were done. `rounds` of about a nanosecond each.
std::int64_t multiply_add_rounds(std::int64_t rounds);

} // namespace omni::cpu
