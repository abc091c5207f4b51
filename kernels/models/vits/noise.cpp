#include "kernels/models/vits/noise.hpp"

#include <array>
#include <cmath>
#include <numbers>

namespace omni::vits {
namespace {

using words = std::array<std::uint32_t, 4>;

words philox(words counter, std::uint64_t key) {
  auto k0 = static_cast<std::uint32_t>(key);
  auto k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * counter[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ k0, static_cast<std::uint32_t>(b),
               static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ k1, static_cast<std::uint32_t>(a)};
    k0 += 0x9E3779B9;
    k1 += 0xBB67AE85;
  }
  return counter;
}

/// (0, 1], so that its logarithm is finite.
float unit(std::uint32_t word) { return (static_cast<float>(word >> 8) + 1.0F) * 0x1p-24F; }

} // namespace

void noise::fill(std::uint64_t first, std::int64_t count, float* out) const {
  for (std::int64_t i = 0; i < count;) {
    const auto index = first + static_cast<std::uint64_t>(i);
    const auto block = index / 4;
    const auto w = philox({static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32), sentence_,
                           static_cast<std::uint32_t>(what_)},
                          seed_);
    std::array<float, 4> normal;
    for (std::size_t pair = 0; pair < 4; pair += 2) {
      const float radius = std::sqrt(-2.0F * std::log(unit(w[pair])));
      const float angle = 2.0F * std::numbers::pi_v<float> * unit(w[pair + 1]);
      normal[pair] = radius * std::cos(angle);
      normal[pair + 1] = radius * std::sin(angle);
    }
    for (auto at = index % 4; at < 4 && i < count; ++at, ++i) out[i] = normal[at];
  }
}

} // namespace omni::vits
