#include "kernels/quant/packed_weight.hpp"

#include "kernels/core/check.hpp"
#include "kernels/core/float16.hpp"
#include "kernels/quant/block_reader.hpp"
#include "kernels/weights/convert.hpp"

#include <algorithm>
#include <cstring>

namespace omni {
namespace {

constexpr std::int64_t lanes = packed_weight::panel_rows;

void pack_f32_panel(const tensor& values, std::int64_t first_row, std::int64_t rows, std::vector<float>& scratch,
                    std::byte* out) {
  const auto columns = values.columns();
  scratch.resize(static_cast<std::size_t>(rows * columns));
  read_rows_f32(values, first_row, rows, scratch);
  auto* const to = reinterpret_cast<float*>(out);
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < columns; ++k) to[k * lanes + r] = scratch[static_cast<std::size_t>(r * columns + k)];
}

void pack_16bit_panel(const tensor& values, std::int64_t first_row, std::int64_t rows, std::byte* out) {
  const auto columns = values.columns();
  const auto* const from = static_cast<const std::byte*>(values.data) + first_row * columns * 2;
  for (std::int64_t r = 0; r < rows; ++r)
    for (std::int64_t k = 0; k < columns; ++k) std::memcpy(out + (k * lanes + r) * 2, from + (r * columns + k) * 2, 2);
}

void put_scale(std::byte* out, dtype type, std::int64_t index, float scale) {
  // F16 scales come from F16, so the way back is exact.
  if (type == dtype::f16) {
    const std::uint16_t half = f32_to_f16(scale);
    std::memcpy(out + index * 2, &half, 2);
  } else {
    std::memcpy(out + index * 4, &scale, 4);
  }
}

/// One row of a panel of integers; `lane` is its place in the panel.
void pack_quantised_row(const std::byte* row, dtype type, const packed_weight& w, std::int64_t lane, std::byte* panel) {
  const auto format = w.format;
  const std::int64_t scale_bytes = info(format.scale_type).block_bytes;
  const std::int64_t group_bytes = lanes * scale_bytes * (format.has_min ? 2 : 1);
  std::byte* const scales = panel + w.quant_bytes();
  const std::int64_t groups_per_block = packed_weight::block / format.group;
  for (std::int64_t b = 0; b < w.columns / packed_weight::block; ++b) {
    const quant_block block = read_quant_block(row, type, b);
    const std::int64_t words = format.layout == weight_layout::u4 ? 4 : 8;
    for (std::int64_t word = 0; word < words; ++word) {
      auto* const to = reinterpret_cast<std::uint8_t*>(panel) + ((b * words + word) * lanes + lane) * 4;
      for (std::int64_t i = 0; i < 4; ++i) {
        const auto q = block.values[static_cast<std::size_t>(4 * word + i)];
        to[i] = words == 8
                    ? q
                    : static_cast<std::uint8_t>(q | block.values[static_cast<std::size_t>(16 + 4 * word + i)] << 4);
      }
    }
    for (std::int64_t g = 0; g < groups_per_block; ++g) {
      std::byte* const at = scales + (b * groups_per_block + g) * group_bytes;
      put_scale(at, format.scale_type, lane, block.scale[static_cast<std::size_t>(g)]);
      if (format.has_min) put_scale(at + lanes * scale_bytes, format.scale_type, lane, block.min);
    }
  }
}

} // namespace

std::byte* weight_arena::take(std::size_t bytes) {
  constexpr std::size_t piece_bytes = std::size_t{16} << 20;
  const std::size_t rounded = (bytes + 63) / 64 * 64;
  if (pieces_.empty() || used_ + rounded > pieces_.back().size()) {
    pieces_.emplace_back(std::max(piece_bytes, rounded));
    used_ = 0;
  }
  std::byte* const p = pieces_.back().data() + used_;
  used_ += rounded;
  return p;
}

std::size_t weight_arena::held_bytes() const {
  std::size_t sum = 0;
  for (const auto& piece : pieces_) sum += piece.size();
  return sum;
}

packed_weight pack_weight(const tensor& values, bool as_f32, weight_arena& arena) {
  OMNI_CHECK(values.extents.rank() == 2, "a packed weight is a matrix");
  packed_weight w;
  w.format = as_f32 ? weight_format{} : format_of(values.type);
  w.rows = values[0];
  w.columns = values[1];
  OMNI_CHECK(!w.format.quantised() || w.columns % packed_weight::block == 0, "a row of blocks is whole");
  w.data = arena.take(static_cast<std::size_t>(w.bytes()));
  std::vector<float> scratch;
  for (std::int64_t p = 0; p < w.panels(); ++p) {
    const std::int64_t first = p * lanes;
    const std::int64_t rows = std::min(lanes, w.rows - first);
    std::byte* const panel = w.data + p * w.panel_bytes();
    if (w.format.layout == weight_layout::f32) {
      pack_f32_panel(values, first, rows, scratch, panel);
    } else if (!w.format.quantised()) {
      pack_16bit_panel(values, first, rows, panel);
    } else {
      const auto* const from = static_cast<const std::byte*>(values.data);
      for (std::int64_t r = 0; r < rows; ++r)
        pack_quantised_row(from + (first + r) * row_bytes(values.type, w.columns), values.type, w, r, panel);
    }
  }
  return w;
}

} // namespace omni
