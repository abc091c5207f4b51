// Products of rows quantised to 8 bits with weights of 4 or 8 bits. A lane is an output row; each 32 columns (16 for
// Q6_K) are one exact integer sum, scaled and added to a float accumulator in column order.
#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/linear_kernels.hpp"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/linear_quantised.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/dot8-inl.hpp"
#include "kernels/cpu/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace omni::HWY_NAMESPACE {

template <bool FourBits, class Scale, bool HasMin, int Group>
struct quantised_format {
  static constexpr bool four_bits = FourBits;
  using scale_type = Scale;
  static constexpr bool has_min = HasMin;
  static constexpr int group = Group;
};

/// Column `k` of a panel, dequantised.
template <class F>
HWY_INLINE f32x16 panel_column(const packed_weight& w, const std::byte* panel, std::int64_t k) {
  using scale_type = typename F::scale_type;
  constexpr int words = F::four_bits ? 4 : 8;
  const std::int64_t i = k % 32;
  const int in_half = static_cast<int>(F::four_bits ? i % 16 : i);
  const int shift = 8 * (in_half % 4) + (F::four_bits && i >= 16 ? 4 : 0);
  const std::byte* const word = panel + (k / 32 * words + in_half / 4) * 64;
  const auto* const scales =
      reinterpret_cast<const scale_type*>(panel + w.quant_bytes()) + k / F::group * (F::has_min ? 32 : 16);
  f32x16 q;
  OMNI_EACH_PART {
    const auto bits = hn::LoadU(tag_i32(), reinterpret_cast<const std::int32_t*>(word) + i_ * part_lanes);
    const auto value = hn::And(hn::ShiftRightSame(bits, shift), hn::Set(tag_i32(), F::four_bits ? 15 : 255));
    q.part[i_] = hn::ConvertTo(tag_f32(), value);
  }
  const f32x16 scale = load16(scales);
  if constexpr (F::has_min) return fma(q, scale, load16(scales + 16));
  return scale * (q - splat(static_cast<float>(w.format.zero_point)));
}

/// Adds the products of a row's outliers to what its blocks gave: 16 outputs at `out`.
template <class F>
HWY_NOINLINE void add_outliers(const packed_weight& w, const std::byte* panel, const cpu::outlier_list& list,
                               float* out) {
  f32x16 sum = load16(out);
  for (std::int64_t i = 0; i < list.count; ++i)
    sum = fma(panel_column<F>(w, panel, list.entries()[i].column), splat(list.entries()[i].value), sum);
  store16(sum, out);
}

template <class F, int R>
void quantised_panels(const std::byte* tile, const packed_weight& w, std::int64_t first_panel, std::int64_t panels,
                      float* out, std::int64_t out_stride) {
  using scale_type = typename F::scale_type;
  constexpr int groups = 32 / F::group; // per block
  constexpr int quant_block_bytes = F::four_bits ? 256 : 512;
  constexpr int scales_of_group = F::has_min ? 32 : 16;
  constexpr int block_bytes = quant_block_bytes + scales_of_group * groups * static_cast<int>(sizeof(scale_type));
  constexpr bool streamed = R <= 2;
  const std::int64_t blocks = w.columns / 32, panel_bytes = w.panel_bytes(), quant_bytes = w.quant_bytes();
  const std::int64_t outlier_bytes = cpu::outlier_bytes(w.columns);
  // value = scale * (q - offset) + (min or scale * -zero_point) + scale * offset
  const f32x16 shift = splat(static_cast<float>(dot_offset<F::four_bits> - w.format.zero_point));
  const std::int64_t ahead = streamed ? 6144 : panels * panel_bytes;
  for (std::int64_t p = 0; p < panels; ++p) {
    const std::byte* const panel = w.data + (first_panel + p) * panel_bytes;
    const std::byte* quants = panel;
    const auto* scales = reinterpret_cast<const scale_type*>(quants + quant_bytes);
    const std::byte* x = tile;
    f32x16 sum[R];
    for (int m = 0; m < R; ++m) sum[m] = splat(0.0F);
    for (std::int64_t b = 0; b < blocks; ++b) {
      prefetch<block_bytes, streamed>(quants + ahead);
      const auto* const factors = reinterpret_cast<const float*>(x + 32 * R); // [4][R]
      for (int g = 0; g < groups; ++g) {
        const f32x16 scale = load16(scales);
        f32x16 min = scale * shift;
        if constexpr (F::has_min) min = dot_offset<F::four_bits> == 0 ? load16(scales + 16) : min + load16(scales + 16);
        i32x16 dot[R];
        dot_words<F::four_bits, R, 8 / groups>(quants + g * (quant_block_bytes / groups), x + g * 16 * R, dot);
        const float* const sums = factors + (groups == 1 ? 1 : 2 + g) * R;
        for (int m = 0; m < R; ++m) {
          sum[m] = fma(to_f32(dot[m]), scale * splat(factors[m]), sum[m]);
          sum[m] = fma(min, splat(sums[m]), sum[m]);
        }
        scales += scales_of_group;
      }
      quants += quant_block_bytes;
      x += cpu::quantised_block_bytes * R;
    }
    for (int m = 0; m < R; ++m) store16(sum[m], out + m * out_stride + 16 * p);
    for (int m = 0; m < R; ++m) {
      const auto& list = *reinterpret_cast<const cpu::outlier_list*>(x + m * outlier_bytes);
      if (list.count > 0) add_outliers<F>(w, panel, list, out + m * out_stride + 16 * p);
    }
  }
}

template <class F, int R = most_tile_rows>
cpu::tile_function quantised_tile_for(std::int64_t rows) {
  if (rows == R) return &quantised_panels<F, R>;
  if constexpr (R > 1) return quantised_tile_for<F, R - 1>(rows);
  return nullptr;
}

cpu::tile_function pick_quantised_tile(const weight_format& format, std::int64_t rows) {
  using half = hwy::float16_t;
  const bool f16 = format.scale_type == dtype::f16;
  if (format.layout == weight_layout::u4) {
    if (!format.has_min) return quantised_tile_for<quantised_format<true, half, false, 32>>(rows);
    if (f16) return quantised_tile_for<quantised_format<true, half, true, 32>>(rows);
    return quantised_tile_for<quantised_format<true, float, true, 32>>(rows);
  }
  if (format.group == 16) return quantised_tile_for<quantised_format<false, float, false, 16>>(rows);
  if (!format.has_min) return quantised_tile_for<quantised_format<false, half, false, 32>>(rows);
  if (f16) return quantised_tile_for<quantised_format<false, half, true, 32>>(rows);
  return quantised_tile_for<quantised_format<false, float, true, 32>>(rows);
}

struct quantised_block {
  alignas(64) std::int8_t bytes[32];
  float factors[4];          // scale, scale * sum, of the first half, of the second
  std::int32_t outlier = -1; // its place, if there is one
};

HWY_INLINE quantised_block quantise_block(const float* x) {
  quantised_block r;
  f32x16 low = load16(x), high = load16(x + 16);
  float largest = max_lane(max(abs(low), abs(high)));
  // One value with more than 25/32 of the energy of all 32: five times their root mean square.
  if (largest * largest > 25.0F / 32.0F * sum(fma(low, low, high * high))) {
    alignas(64) float rest[32];
    store16(low, rest);
    store16(high, rest + 16);
    r.outlier = 0;
    while (std::abs(rest[r.outlier]) != largest) ++r.outlier;
    rest[r.outlier] = 0.0F;
    low = load16(rest), high = load16(rest + 16);
    largest = max_lane(max(abs(low), abs(high)));
  }
  const float scale = largest * (1.0F / 127.0F);
  const f32x16 inverse = splat(largest > 0.0F ? 127.0F / largest : 0.0F);
  const std::int32_t first = to_bytes(low, inverse, r.bytes), second = to_bytes(high, inverse, r.bytes + 16);
  r.factors[0] = scale;
  r.factors[1] = scale * static_cast<float>(first + second);
  r.factors[2] = scale * static_cast<float>(first);
  r.factors[3] = scale * static_cast<float>(second);
  return r;
}

void quantise_rows(const float* x, std::int64_t columns, std::int64_t rows, std::byte* out) {
  const std::int64_t blocks = columns / 32;
  std::byte* const lists = out + blocks * cpu::quantised_block_bytes * rows;
  for (std::int64_t m = 0; m < rows; ++m) {
    auto& list = *reinterpret_cast<cpu::outlier_list*>(lists + m * cpu::outlier_bytes(columns));
    list.count = 0;
    for (std::int64_t b = 0; b < blocks; ++b) {
      const float* const from = x + m * columns + b * 32;
      const quantised_block q = quantise_block(from);
      if (q.outlier >= 0)
        list.entries()[list.count++] = {static_cast<std::int32_t>(b * 32) + q.outlier, from[q.outlier]};
      std::byte* const block = out + b * cpu::quantised_block_bytes * rows;
      for (std::int64_t word = 0; word < 8; ++word)
        hwy::CopyBytes<4>(q.bytes + 4 * word, block + (word * rows + m) * 4);
      auto* const to = reinterpret_cast<float*>(block + 32 * rows);
      for (std::int64_t f = 0; f < 4; ++f) to[f * rows + m] = q.factors[f];
    }
  }
}

} // namespace omni::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace omni {
HWY_EXPORT(pick_quantised_tile);
HWY_EXPORT(quantise_rows);

namespace cpu {

tile_function quantised_tile(const weight_format& format, std::int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(pick_quantised_tile)(format, rows);
}
void quantise_tile(const float* x, std::int64_t columns, std::int64_t rows, std::byte* out) {
  HWY_DYNAMIC_DISPATCH(quantise_rows)(x, columns, rows, out);
}

} // namespace cpu
} // namespace omni
#endif
