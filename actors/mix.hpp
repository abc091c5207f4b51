#pragma once

#include <cstdint>
#include <span>

namespace omni {

/// Spreads every bit of `value` over the whole result; neighbours become unrelated. The finaliser of splitmix64.
constexpr std::uint64_t mix64(std::uint64_t value) {
  value += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

/// Hash of `tokens` that follow what `before` stands for.
constexpr std::uint64_t mix_tokens(std::uint64_t before, std::span<const std::int32_t> tokens) {
  std::uint64_t hash = mix64(before);
  for (const auto token : tokens) hash = mix64(hash ^ std::uint32_t(token));
  return hash;
}

} // namespace omni
