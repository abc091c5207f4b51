#pragma once

#include <bit>
#include <cstdint>

namespace omni {

/// The value of an IEEE half given as bits. Exact; NaN payloads are kept and become quiet.
constexpr float f16_to_f32(std::uint16_t bits) {
  const std::uint32_t sign = (bits & 0x8000U) << 16;
  const std::uint32_t magnitude = bits & 0x7fffU;
  std::uint32_t value = (magnitude << 13) + 0x38000000U; // moves the exponent's bias from 15 to 127
  if (magnitude >= 0x7c00U) value = 0x7f800000U | magnitude << 13;
  if (magnitude > 0x7c00U) value |= 0x400000U;
  // Subnormal: an integer times 2^-24. Built so, no F32 subnormal is touched, which a thread may flush to zero.
  if (magnitude < 0x400U) value = std::bit_cast<std::uint32_t>(static_cast<float>(magnitude) * 0x1p-24F);
  return std::bit_cast<float>(sign | value);
}

/// The nearest IEEE half as bits, ties to even; too large becomes infinity, NaN a quiet NaN.
constexpr std::uint16_t f32_to_f16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  const auto sign = static_cast<std::uint16_t>(bits >> 16 & 0x8000U);
  const std::uint32_t magnitude = bits & 0x7fffffffU;
  if (magnitude > 0x7f800000U) return static_cast<std::uint16_t>(sign | 0x7e00U | (magnitude >> 13 & 0x1ffU));
  if (magnitude >= 0x477ff000U) return static_cast<std::uint16_t>(sign | 0x7c00U); // 65520 and more
  if (magnitude < 0x38800000U) {
    // Subnormal: adding 0.5 makes the unit in the last place 2^-24, the hardware's addition does the rounding.
    const float rounded = std::bit_cast<float>(magnitude) + 0.5F;
    return static_cast<std::uint16_t>(sign | (std::bit_cast<std::uint32_t>(rounded) - 0x3f000000U));
  }
  const std::uint32_t rounded = magnitude - 0x38000000U + 0xfffU + (magnitude >> 13 & 1U);
  return static_cast<std::uint16_t>(sign | rounded >> 13);
}

/// The value of a bfloat16 given as bits. Exact.
constexpr float bf16_to_f32(std::uint16_t bits) { return std::bit_cast<float>(static_cast<std::uint32_t>(bits) << 16); }

/// The nearest bfloat16 as bits, ties to even; NaN stays a (quiet) NaN.
constexpr std::uint16_t f32_to_bf16(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  if ((bits & 0x7fffffffU) > 0x7f800000U) return static_cast<std::uint16_t>(bits >> 16 | 0x40U);
  return static_cast<std::uint16_t>((bits + 0x7fffU + (bits >> 16 & 1U)) >> 16);
}

} // namespace omni
