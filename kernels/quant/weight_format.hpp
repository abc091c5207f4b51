#pragma once

#include "kernels/core/dtype.hpp"

#include <cstdint>

namespace omni {

/// Integers or floats of a packed weight.
enum class weight_layout : std::uint8_t { f32, f16, bf16, u4, u8 };

/// How a packed weight keeps its values, as data. A quantised value is scale * q + min, or scale * (q - zero_point)
/// where there is no min; q is unsigned. A scale (and min) serves `group` neighbours of one row.
struct weight_format {
  weight_layout layout = weight_layout::f32;
  std::int32_t group = 32;       // values that share a scale: 32 or 16
  dtype scale_type = dtype::f32; // of scale and min; F16 where the file has F16, so that nothing is lost
  bool has_min = false;
  std::int32_t zero_point = 0;

  [[nodiscard]] constexpr bool quantised() const { return layout == weight_layout::u4 || layout == weight_layout::u8; }
  friend constexpr bool operator==(const weight_format&, const weight_format&) = default;
};

/// The format that keeps a file's type exactly. Types that are neither floats of at most 32 bits nor blocks become F32.
constexpr weight_format format_of(dtype file_type) {
  using enum weight_layout;
  switch (file_type) {
  case dtype::f16:
    return {.layout = f16};
  case dtype::bf16:
    return {.layout = bf16};
  case dtype::q4_0:
    return {.layout = u4, .scale_type = dtype::f16, .zero_point = 8};
  case dtype::q4_1:
    return {.layout = u4, .scale_type = dtype::f16, .has_min = true};
  case dtype::q5_0:
    return {.layout = u8, .scale_type = dtype::f16, .zero_point = 16};
  case dtype::q5_1:
    return {.layout = u8, .scale_type = dtype::f16, .has_min = true};
  case dtype::q8_0:
    return {.layout = u8, .scale_type = dtype::f16, .zero_point = 128};
  case dtype::q4_k:
    return {.layout = u4, .scale_type = dtype::f32, .has_min = true};
  case dtype::q5_k:
    return {.layout = u8, .scale_type = dtype::f32, .has_min = true};
  case dtype::q6_k:
    return {.layout = u8, .group = 16, .scale_type = dtype::f32, .zero_point = 32};
  default:
    return {.layout = f32};
  }
}

} // namespace omni
