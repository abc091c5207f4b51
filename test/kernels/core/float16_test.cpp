#include "kernels/core/float16.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace omni {
namespace {

/// Sign, exponent and fraction of IEEE 754-2008 binary16, in double.
double half_value(std::uint16_t bits) {
  const int exponent = bits >> 10 & 31;
  const int fraction = bits & 1023;
  const double size = exponent == 0 ? std::ldexp(fraction, -24) : std::ldexp(1024 + fraction, exponent - 25);
  return bits & 0x8000 ? -size : size;
}

TEST(float16, every_half_has_its_value) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    const float value = f16_to_f32(half);
    const bool top = (bits & 0x7c00) == 0x7c00;
    ASSERT_EQ(std::isinf(value), top && (bits & 0x3ff) == 0) << bits;
    ASSERT_EQ(std::isnan(value), top && (bits & 0x3ff) != 0) << bits;
    ASSERT_TRUE(top || value == half_value(half)) << bits;
    ASSERT_EQ(std::signbit(value), bits >= 0x8000) << bits;
  }
}

TEST(float16, every_half_comes_back_from_f32) {
  for (int bits = 0; bits < 65536; ++bits) {
    const bool quiet_nan = (bits & 0x7c00) == 0x7c00 && (bits & 0x3ff) != 0;
    const int expected = quiet_nan ? bits | 0x200 : bits;
    ASSERT_EQ(f32_to_f16(f16_to_f32(static_cast<std::uint16_t>(bits))), expected);
  }
}

TEST(float16, f32_between_two_halves_goes_to_the_nearer_one_and_ties_to_even) {
  for (std::uint16_t bits = 0; bits < 0x7bff; ++bits) { // all finite neighbours
    const float low = f16_to_f32(bits);
    const float high = f16_to_f32(static_cast<std::uint16_t>(bits + 1));
    const float middle = low + (high - low) / 2; // exact in F32
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, low)), bits);
    ASSERT_EQ(f32_to_f16(middle), bits + (bits & 1));
    ASSERT_EQ(f32_to_f16(std::nextafter(middle, high)), bits + 1);
  }
}

TEST(float16, f32_beyond_the_halves_becomes_infinite) {
  EXPECT_EQ(f32_to_f16(65519.99F), 0x7bff);
  EXPECT_EQ(f32_to_f16(65520.0F), 0x7c00);
  EXPECT_EQ(f32_to_f16(-1e30F), 0xfc00);
  EXPECT_EQ(f32_to_f16(1e-30F), 0);
}

TEST(float16, bfloat_is_the_upper_half_of_f32) {
  for (int bits = 0; bits < 65536; ++bits) {
    const auto half = static_cast<std::uint16_t>(bits);
    ASSERT_EQ(std::bit_cast<std::uint32_t>(bf16_to_f32(half)), static_cast<std::uint32_t>(bits) << 16);
    const bool nan = (bits & 0x7f80) == 0x7f80 && (bits & 0x7f) != 0;
    ASSERT_EQ(f32_to_bf16(bf16_to_f32(half)), nan ? bits | 0x40 : bits);
  }
}

TEST(float16, bfloat_rounds_to_the_nearest_and_ties_to_even) {
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f807fffU)), 0x3f80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f808000U)), 0x3f80);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f808001U)), 0x3f81);
  EXPECT_EQ(f32_to_bf16(std::bit_cast<float>(0x3f818000U)), 0x3f82);
  EXPECT_EQ(f32_to_bf16(std::numeric_limits<float>::max()), 0x7f80);
}

} // namespace
} // namespace omni
