// Products of F32 rows with weights kept as F32, F16 or bfloat16. A lane is an output row; each output is one chain of
// fused multiply-adds in column order.
#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/linear_kernels.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/linear_float.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.hpp"

#include <hwy/cache_control.h>

HWY_BEFORE_NAMESPACE();
namespace omni::HWY_NAMESPACE {

/// `Panels` panels at once: enough chains of additions to hide their latency, and one load of x for all of them.
template <class T, int R, int Panels>
HWY_INLINE void float_panels_at_once(const float* x, const packed_weight& w, std::int64_t first_panel, float* out,
                                     std::int64_t out_stride) {
  const T* weights[Panels];
  for (int p = 0; p < Panels; ++p)
    weights[p] = reinterpret_cast<const T*>(w.data + (first_panel + p) * w.panel_bytes());
  f32x16 sum[R][Panels];
  for (int m = 0; m < R; ++m)
    for (int p = 0; p < Panels; ++p) sum[m][p] = splat(0.0F);
  for (std::int64_t k = 0; k < w.columns; ++k) {
    f32x16 column[Panels];
    for (int p = 0; p < Panels; ++p) {
      column[p] = load16(weights[p] + k * lanes16);
      if constexpr (R <= 2) hwy::Prefetch(weights[p] + k * lanes16 + 2048 / sizeof(T));
    }
    for (int m = 0; m < R; ++m) {
      const f32x16 value = splat(x[k * R + m]);
      for (int p = 0; p < Panels; ++p) sum[m][p] = fma(column[p], value, sum[m][p]);
    }
  }
  for (int m = 0; m < R; ++m)
    for (int p = 0; p < Panels; ++p) store16(sum[m][p], out + m * out_stride + 16 * p);
}

template <class T, int R>
void float_panels(const std::byte* tile, const packed_weight& w, std::int64_t first_panel, std::int64_t panels,
                  float* out, std::int64_t out_stride) {
  constexpr int at_once = parts == 1 ? (R <= 2 ? 4 : 2) : parts == 2 && R <= 2 ? 2 : 1;
  const auto* const x = reinterpret_cast<const float*>(tile);
  std::int64_t p = 0;
  for (; p + at_once <= panels; p += at_once)
    float_panels_at_once<T, R, at_once>(x, w, first_panel + p, out + 16 * p, out_stride);
  for (; p < panels; ++p) float_panels_at_once<T, R, 1>(x, w, first_panel + p, out + 16 * p, out_stride);
}

template <class T, int R = most_tile_rows>
cpu::tile_function float_tile_for(std::int64_t rows) {
  if (rows == R) return &float_panels<T, R>;
  if constexpr (R > 1) return float_tile_for<T, R - 1>(rows);
  return nullptr;
}

cpu::tile_function pick_float_tile(const weight_format& format, std::int64_t rows) {
  switch (format.layout) {
  case weight_layout::f16:
    return float_tile_for<hwy::float16_t>(rows);
  case weight_layout::bf16:
    return float_tile_for<hwy::bfloat16_t>(rows);
  default:
    return float_tile_for<float>(rows);
  }
}

std::int64_t rows_of_tile() { return most_tile_rows; }

} // namespace omni::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace omni {
HWY_EXPORT(pick_float_tile);
HWY_EXPORT(rows_of_tile);

namespace cpu {

tile_function float_tile(const weight_format& format, std::int64_t rows) {
  return HWY_DYNAMIC_DISPATCH(pick_float_tile)(format, rows);
}
std::int64_t tile_rows() { return HWY_DYNAMIC_DISPATCH(rows_of_tile)(); }

} // namespace cpu
} // namespace omni
#endif
