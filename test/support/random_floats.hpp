#pragma once

#include <cstdint>
#include <random>
#include <vector>

namespace omni::test {

/// `count` values, uniform in [-1, 1), the same for the same seed.
inline std::vector<float> random_floats(std::int64_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (auto& value : values) value = static_cast<float>(static_cast<std::int32_t>(generator())) * 0x1p-31F;
  return values;
}

} // namespace omni::test
