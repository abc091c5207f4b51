#pragma once

#include "kernels/quant/packed_weight.hpp"

namespace omni::cpu {

/// One tile of rows against consecutive panels: out[row * out_stride + 16 * panel + lane], panels counted from
/// `first_panel`, all 16 lanes written.
struct tile_args {
  const std::byte* x; // a tile of prepared rows
  const packed_weight* weight;
  std::int64_t first_panel;
  std::int64_t panels;
  float* out;
  std::int64_t out_stride; // floats
};
using tile_function = void (*)(const tile_args&);

/// Rows of one tile of prepared rows; the last tile has the rest. A tile of R rows is
///   quantised: per 32 columns [8 words][R][4 bytes] i8, then [4][R] f32: scale, scale * sum, the same of each half
///   floats:    [columns][R] f32
std::int64_t tile_rows();

/// The kernel for a weight format and a number of rows, at most the tile's.
tile_function quantised_tile(const weight_format& format, std::int64_t rows);
tile_function float_tile(const weight_format& format, std::int64_t rows);

constexpr std::int64_t quantised_block_bytes = 48; // of one row

/// Quantises `rows` rows of x [.., columns] into one tile.
void quantise_tile(const float* x, std::int64_t columns, std::int64_t rows, std::byte* out);

} // namespace omni::cpu
