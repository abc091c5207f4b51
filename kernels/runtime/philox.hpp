#pragma once

#include <array>
#include <cstdint>

namespace omni {

/// Random numbers without state: a function of seed and index alone, so a sequence draws the same numbers whatever runs
/// beside it and however often it is interrupted. Philox 4x32-10 (Salmon et al. 2011, "Parallel random numbers: as easy
/// as 1, 2, 3").
constexpr std::array<std::uint32_t, 4> philox(std::uint64_t seed, std::uint64_t index) {
  std::array<std::uint32_t, 4> x{static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 0, 0};
  std::uint32_t key[2] = {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)};
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53} * x[0], b = std::uint64_t{0xCD9E8D57} * x[2];
    x = {static_cast<std::uint32_t>(b >> 32) ^ x[1] ^ key[0], static_cast<std::uint32_t>(b),
         static_cast<std::uint32_t>(a >> 32) ^ x[3] ^ key[1], static_cast<std::uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return x;
}

/// Uniform in [0, 1), with 53 random bits.
constexpr double uniform(std::uint64_t seed, std::uint64_t index) {
  const auto x = philox(seed, index);
  return static_cast<double>((std::uint64_t{x[0]} << 32 | x[1]) >> 11) * 0x1p-53;
}

} // namespace omni
