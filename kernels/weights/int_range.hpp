#pragma once

#include <cstdint>
#include <limits>

namespace omni {

/// Integers that a reader accepts, both ends included. The default refuses what cannot be a size or an id.
struct int_range {
  std::int64_t low = 0;
  std::int64_t high = std::numeric_limits<std::int32_t>::max();
};

} // namespace omni
