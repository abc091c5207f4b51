#include "kernels/cpu/conv_kernels.hpp"

#include "kernels/cpu/isa.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv_kernel.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace omni::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using lane_tag = hn::CappedTag<float, 16>;
using lanes = hn::Vec<lane_tag>;

// A block of output rows times two vectors of columns stays in registers over the whole sum: two weight vectors, one
// broadcast input and 24 (AVX-512) or 12 accumulators.
constexpr int vectors = 2;
constexpr int block_rows = HWY_TARGET <= HWY_AVX3 && HWY_ARCH_X86 ? 12 : 6;

/// What is left to do with a finished sum.
struct epilogue {
  std::span<const conv_job> summands;
  std::int64_t row;
  std::int64_t column;
  std::int64_t columns_left; // valid columns from `column` on

  HWY_INLINE void operator()(lanes value, std::int64_t r, std::int64_t c) const {
    const lane_tag d;
    const auto& a = summands.back().a;
    const auto width = static_cast<std::int64_t>(hn::Lanes(d));
    const auto left = columns_left - c * width;
    if (left <= 0) return;
    const auto at = (row + r) * a.out_stride + column + c * width;
    if (left >= width) {
      for (const auto& job : summands)
        if (job.a.residual != nullptr) value = hn::Add(value, hn::LoadU(d, job.a.residual + at));
      if (a.scale != 1.0F) value = hn::Mul(value, hn::Set(d, a.scale));
      if (a.out != nullptr) hn::StoreU(value, d, a.out + at);
      if (a.activated != nullptr) hn::StoreU(hn::Max(value, hn::Mul(value, hn::Set(d, a.slope))), d, a.activated + at);
      return;
    }
    const auto mask = hn::FirstN(d, static_cast<std::size_t>(left));
    for (const auto& job : summands)
      if (job.a.residual != nullptr) value = hn::Add(value, hn::MaskedLoad(mask, d, job.a.residual + at));
    if (a.scale != 1.0F) value = hn::Mul(value, hn::Set(d, a.scale));
    if (a.out != nullptr) hn::BlendedStore(value, mask, d, a.out + at);
    if (a.activated != nullptr)
      hn::BlendedStore(hn::Max(value, hn::Mul(value, hn::Set(d, a.slope))), mask, d, a.activated + at);
  }
};

/// Adds one convolution to `Rows` output rows, two vectors of columns from `column` on.
template <int Rows>
HWY_INLINE void accumulate(const conv_job& job, std::int64_t row, std::int64_t column, lanes (&sum)[Rows][vectors]) {
  const auto& [w, a] = job;
  const lane_tag d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  // Taps of dilation 1 over dense rows are one long row.
  const bool merged = w.dilation == 1 && a.x_stride == w.in;
  const auto taps = merged ? 1 : w.taps;
  const auto in = merged ? w.in * w.taps : w.in;
  const float* HWY_RESTRICT weight = w.panels + column / conv_panel * conv_panel * w.in * w.taps + column % conv_panel;
  const float* HWY_RESTRICT x = a.x + row * a.x_stride;
  const auto stride = a.x_stride;
  constexpr std::int64_t ahead = 16 * conv_panel; // of weights that come from a far cache the first time
  for (std::int64_t tap = 0; tap < taps; ++tap, x += w.dilation * stride) {
    for (std::int64_t i = 0; i < in; ++i, weight += conv_panel) {
      const auto w0 = hn::LoadU(d, weight);
      const auto w1 = hn::LoadU(d, weight + width);
      hwy::Prefetch(weight + ahead);
      hwy::Prefetch(weight + ahead + width);
      HWY_UNROLL(12)
      for (int r = 0; r < Rows; ++r) {
        const auto value = hn::Set(d, x[r * stride + i]);
        sum[r][0] = hn::MulAdd(value, w0, sum[r][0]);
        sum[r][1] = hn::MulAdd(value, w1, sum[r][1]);
      }
    }
  }
}

template <int Rows>
HWY_INLINE void block(std::span<const conv_job> summands, std::int64_t row, std::int64_t column) {
  const lane_tag d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  lanes sum[Rows][vectors];
  HWY_UNROLL(2)
  for (int c = 0; c < vectors; ++c) {
    auto start = hn::Zero(d);
    for (const auto& job : summands)
      if (job.w.bias != nullptr) start = hn::Add(start, hn::LoadU(d, job.w.bias + column + c * width));
    HWY_UNROLL(12)
    for (int r = 0; r < Rows; ++r) sum[r][c] = start;
  }
  for (const auto& job : summands) accumulate<Rows>(job, row, column, sum);
  const epilogue finish{summands, row, column, summands.back().w.out - column};
  HWY_UNROLL(12)
  for (int r = 0; r < Rows; ++r) {
    finish(sum[r][0], r, 0);
    finish(sum[r][1], r, 1);
  }
}

/// Computes whole blocks of rows from `row` on; returns the first row that is left.
template <int Rows>
HWY_INLINE std::int64_t blocks(std::span<const conv_job> summands, std::int64_t row, std::int64_t end,
                               std::int64_t column) {
  for (; end - row >= Rows; row += Rows) block<Rows>(summands, row, column);
  return row;
}

void compute_tile(std::span<const conv_job> summands, const conv_tile& tile) {
  const auto step = vectors * static_cast<std::int64_t>(hn::Lanes(lane_tag()));
  const auto end_column = std::min(tile.panel * conv_panel + conv_panel, summands.back().w.out);
  for (auto column = tile.panel * conv_panel; column < end_column; column += step) {
    auto row = blocks<block_rows>(summands, tile.first_row, tile.end_row, column);
    if constexpr (block_rows > 8) row = blocks<8>(summands, row, tile.end_row, column);
    row = blocks<4>(summands, row, tile.end_row, column);
    row = blocks<2>(summands, row, tile.end_row, column);
    blocks<1>(summands, row, tile.end_row, column);
  }
}

std::int64_t conv_block_rows() { return block_rows; }

} // namespace HWY_NAMESPACE
} // namespace omni::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace omni::cpu {
HWY_EXPORT(compute_tile);
HWY_EXPORT(conv_block_rows);

void compute_tile(std::span<const conv_job> summands, const conv_tile& tile) {
  HWY_DYNAMIC_DISPATCH(compute_tile)(summands, tile);
}
std::int64_t conv_block_rows() { return HWY_DYNAMIC_DISPATCH(conv_block_rows)(); }

} // namespace omni::cpu
#endif
