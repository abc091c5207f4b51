#pragma once

#include "kernels/core/buffer.hpp"
#include "kernels/quant/weight_format.hpp"

#include <vector>

namespace omni {

/// Memory of many packed weights: large pieces, so that huge pages can back them. Lives as long as the model.
class weight_arena {
public:
  /// 64-byte aligned, zeroed.
  std::byte* take(std::size_t bytes);
  [[nodiscard]] std::size_t held_bytes() const;

private:
  std::vector<buffer> pieces_;
  std::size_t used_ = 0; // of the last piece
};

/// A matrix [rows, columns] in the order that the CPU kernels read: panels of 16 rows, so that a vector lane is a row
/// and no sum runs across lanes. Rows that the last panel lacks are zero. A view; the memory belongs to an arena.
///
/// Panel of floats:    [columns][16 rows]
/// Panel of integers:  [columns/32 blocks] quants, then [columns/group] of {scale[16 rows], min[16 rows] if has_min}
///   quants of a U8 block: [8 words][16 rows][4 bytes], word w holds values 4w..4w+3
///   quants of a U4 block: [4 words][16 rows][4 bytes], low nibbles hold values 4w..4w+3, high nibbles 16+4w..16+4w+3
struct packed_weight {
  weight_format format;
  std::int64_t rows = 0;    // outputs
  std::int64_t columns = 0; // inputs
  std::byte* data = nullptr;

  static constexpr std::int64_t panel_rows = 16;
  static constexpr std::int64_t block = 32;

  [[nodiscard]] bool empty() const { return data == nullptr; }
  [[nodiscard]] std::int64_t panels() const { return (rows + panel_rows - 1) / panel_rows; }
  /// Bytes of the quants of one panel, before its scales.
  [[nodiscard]] std::int64_t quant_bytes() const {
    switch (format.layout) {
    case weight_layout::f32:
      return columns * panel_rows * 4;
    case weight_layout::u4:
      return columns * panel_rows / 2;
    case weight_layout::u8:
      return columns * panel_rows;
    default:
      return columns * panel_rows * 2;
    }
  }
  [[nodiscard]] std::int64_t panel_bytes() const {
    if (!format.quantised()) return quant_bytes();
    const std::int64_t per_group = panel_rows * info(format.scale_type).block_bytes * (format.has_min ? 2 : 1);
    return quant_bytes() + columns / format.group * per_group;
  }
  [[nodiscard]] std::int64_t bytes() const { return panels() * panel_bytes(); }
};

/// Packs a matrix read from a file. `as_f32`: dequantise, whatever its type is.
/// `values` is [rows, columns] or, for one of several matrices in a tensor, a view of it; its alignment does not
/// matter. `columns` of block types are a multiple of the block (checkpoints guarantee it).
packed_weight pack_weight(const tensor& values, bool as_f32, weight_arena& arena);

} // namespace omni
