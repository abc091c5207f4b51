#include "kernels/cpu/vector_ops.hpp"

#include "kernels/core/float16.hpp"
#include "kernels/cpu/isa.hpp"

#include <cmath>
#include <cstring>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/vector_ops.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace omni::HWY_NAMESPACE {

/// The first `count` values at p, zeros after them; whole vectors are the common case.
HWY_INLINE f32x16 load_some(const float* p, std::int64_t count) {
  if (count >= lanes16) return load16(p);
  float lane[lanes16] = {};
  for (std::int64_t i = 0; i < count; ++i) lane[i] = p[i];
  return load16(lane);
}
HWY_INLINE void store_some(const f32x16& x, float* p, std::int64_t count) {
  if (count >= lanes16) return store16(x, p);
  float lane[lanes16];
  store16(x, lane);
  for (std::int64_t i = 0; i < count; ++i) p[i] = lane[i];
}

void gate(const float* gates, const float* x, float* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += lanes16)
    store_some(silu(load_some(gates + i, count - i)) * load_some(x + i, count - i), out + i, count - i);
}

void add(const float* a, const float* b, float* out, std::int64_t count) {
  for (std::int64_t i = 0; i < count; i += lanes16)
    store_some(load_some(a + i, count - i) + load_some(b + i, count - i), out + i, count - i);
}

void multiply_add(const float* x, float factor, float* out, std::int64_t count) {
  const f32x16 f = splat(factor);
  for (std::int64_t i = 0; i < count; i += lanes16)
    store_some(fma(load_some(x + i, count - i), f, load_some(out + i, count - i)), out + i, count - i);
}

void rms_norm(float* x, const float* added, const float* weight, float epsilon, float* out, std::int64_t width) {
  f32x16 squares = splat(0.0F);
  for (std::int64_t i = 0; i < width; i += lanes16) {
    f32x16 v = load_some(x + i, width - i);
    if (added != nullptr) {
      v = v + load_some(added + i, width - i);
      store_some(v, x + i, width - i);
    }
    squares = fma(v, v, squares);
  }
  const f32x16 factor = splat(1.0F / std::sqrt(sum(squares) / static_cast<float>(width) + epsilon));
  for (std::int64_t i = 0; i < width; i += lanes16)
    store_some(load_some(x + i, width - i) * factor * load_some(weight + i, width - i), out + i, width - i);
}

void rotate(float* x, const float* cos, const float* sin, std::int64_t half) {
  for (std::int64_t i = 0; i < half; i += lanes16) {
    const std::int64_t left = half - i;
    const f32x16 a = load_some(x + i, left), b = load_some(x + half + i, left);
    const f32x16 c = load_some(cos + i, left), s = load_some(sin + i, left);
    store_some(a * c - b * s, x + i, left);
    store_some(b * c + a * s, x + half + i, left);
  }
}

void softmax(float* values, std::int64_t count) {
  float largest = values[0];
  for (std::int64_t i = 1; i < count; ++i) largest = values[i] > largest ? values[i] : largest;
  float total = 0.0F;
  for (std::int64_t i = 0; i < count; i += lanes16) {
    float lane[lanes16];
    store16(exp(load_some(values + i, count - i) - splat(largest)), lane);
    for (std::int64_t j = 0; j < lanes16 && i + j < count; ++j) {
      values[i + j] = lane[j];
      total += lane[j];
    }
  }
  for (std::int64_t i = 0; i < count; ++i) values[i] /= total;
}

} // namespace omni::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace omni {
HWY_EXPORT(gate);
HWY_EXPORT(add);
HWY_EXPORT(multiply_add);
HWY_EXPORT(rms_norm);
HWY_EXPORT(rotate);
HWY_EXPORT(softmax);

namespace cpu {
namespace {

float scale_at(const std::byte* scales, dtype type, std::int64_t index) {
  if (type == dtype::f32) return reinterpret_cast<const float*>(scales)[index];
  return f16_to_f32(reinterpret_cast<const std::uint16_t*>(scales)[index]);
}

void unpack_float_row(const packed_weight& w, const std::byte* panel, std::int64_t lane, float* out) {
  for (std::int64_t k = 0; k < w.columns; ++k) {
    const std::int64_t at = k * packed_weight::panel_rows + lane;
    switch (w.format.layout) {
    case weight_layout::f16:
      out[k] = f16_to_f32(reinterpret_cast<const std::uint16_t*>(panel)[at]);
      break;
    case weight_layout::bf16:
      out[k] = bf16_to_f32(reinterpret_cast<const std::uint16_t*>(panel)[at]);
      break;
    default:
      out[k] = reinterpret_cast<const float*>(panel)[at];
    }
  }
}

} // namespace

void gate_values(const float* gates, const float* x, float* out, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(gate)(gates, x, out, count);
}
void add_values(const float* a, const float* b, float* out, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(add)(a, b, out, count);
}
void add_scaled(const float* x, float factor, float* out, std::int64_t count) {
  HWY_DYNAMIC_DISPATCH(multiply_add)(x, factor, out, count);
}
void rms_norm_row(float* x, const float* added, const float* weight, float epsilon, float* out, std::int64_t width) {
  HWY_DYNAMIC_DISPATCH(rms_norm)(x, added, weight, epsilon, out, width);
}
void rms_norm_rows(const rms_norm_args& args, std::int64_t begin, std::int64_t end) {
  const std::int64_t width = args.x.columns();
  for (std::int64_t r = begin; r < end; ++r)
    rms_norm_row(args.x.f32() + r * width, args.add.empty() ? nullptr : args.add.f32() + r * width, args.weight,
                 args.epsilon, args.out.f32() + r * width, width);
}
void rotate_head(float* x, const float* cos, const float* sin, std::int64_t half) {
  HWY_DYNAMIC_DISPATCH(rotate)(x, cos, sin, half);
}
void softmax_row(float* values, std::int64_t count) { HWY_DYNAMIC_DISPATCH(softmax)(values, count); }

void unpack_row(const packed_weight& w, std::int64_t row, float* out) {
  constexpr std::int64_t lanes = packed_weight::panel_rows;
  const std::byte* const panel = w.data + row / lanes * w.panel_bytes();
  const std::int64_t lane = row % lanes;
  if (!w.format.quantised()) return unpack_float_row(w, panel, lane, out);
  const auto& format = w.format;
  const std::byte* const scales = panel + w.quant_bytes();
  const bool four_bits = format.layout == weight_layout::u4;
  const std::int64_t words = four_bits ? 4 : 8;
  for (std::int64_t k = 0; k < w.columns; ++k) {
    const std::int64_t b = k / packed_weight::block, i = k % packed_weight::block;
    const std::int64_t in_block = four_bits ? i % 16 : i;
    const auto byte = static_cast<int>(panel[((b * words + in_block / 4) * lanes + lane) * 4 + in_block % 4]);
    const int q = !four_bits ? byte : i < 16 ? byte & 15 : byte >> 4;
    const std::int64_t at = k / format.group * lanes * (format.has_min ? 2 : 1) + lane;
    const float scale = scale_at(scales, format.scale_type, at);
    out[k] = scale * static_cast<float>(q - format.zero_point);
    if (format.has_min) out[k] += scale_at(scales, format.scale_type, at + lanes);
  }
}

} // namespace cpu
} // namespace omni
#endif
