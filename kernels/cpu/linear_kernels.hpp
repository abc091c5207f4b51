#pragma once

#include "kernels/quant/packed_weight.hpp"

namespace omni::cpu {

/// One tile of prepared rows against `panels` panels of a weight from `first_panel` on:
/// out[row * out_stride + 16 * (panel - first_panel) + lane], all 16 lanes written. Six arguments, so that all are
/// passed in registers: loading what was stored just before would wait for the tile before to be done.
using tile_function = void (*)(const std::byte* x, const packed_weight& weight, std::int64_t first_panel,
                               std::int64_t panels, float* out, std::int64_t out_stride);

/// Rows of one tile of prepared rows; the last tile has the rest. A tile of R rows is
///   quantised: per 32 columns [8 words][R][4 bytes] i8 and [4][R] f32: scale, scale * sum, the same of each half; then
///              an outlier_list for each row
///   floats:    [columns][R] f32
std::int64_t tile_rows();

/// The kernel for a weight format and a number of rows, at most the tile's.
tile_function quantised_tile(const weight_format& format, std::int64_t rows);
tile_function float_tile(const weight_format& format, std::int64_t rows);

/// A value that carries most of its block's energy would leave the other 31 with few steps of the scale. It is taken
/// out, kept as it is, and multiplied apart; this halves the error of real models for a few percent of the time.
struct outlier {
  std::int32_t column;
  float value;
};
/// The outliers of one row, in order of their columns; at most one in a block.
struct outlier_list {
  std::int64_t count;
  [[nodiscard]] outlier* entries() { return reinterpret_cast<outlier*>(this + 1); } // [blocks] follow in memory
  [[nodiscard]] const outlier* entries() const { return reinterpret_cast<const outlier*>(this + 1); }
};

constexpr std::int64_t quantised_block_bytes = 48; // of one row, without outliers
constexpr std::int64_t outlier_bytes(std::int64_t columns) { return 8 + columns / packed_weight::block * 8; }
constexpr std::int64_t quantised_row_bytes(std::int64_t columns) {
  return columns / packed_weight::block * quantised_block_bytes + outlier_bytes(columns);
}

/// Quantises `rows` rows of x [.., columns] into one tile.
void quantise_tile(const float* x, std::int64_t columns, std::int64_t rows, std::byte* out);

} // namespace omni::cpu
