#pragma once

#include "kernels/ops/conv.hpp"

#include <span>

namespace omni::cpu {

/// A piece of a convolution, or of a sum of them, for one thread.
struct conv_tile {
  std::int64_t first_row = 0;
  std::int64_t end_row = 0;
  std::int64_t panel = 0; // which 32 output columns
};
void compute_tile(std::span<const conv_job> summands, const conv_tile& tile);
/// Rows that the kernel of this machine holds in registers; tiles are best a multiple of it.
std::int64_t conv_block_rows();

/// Softmax over each row, in place; values [rows, columns] with row stride `stride`.
void softmax_rows(float* values, std::int64_t rows, std::int64_t columns, std::int64_t stride);

} // namespace omni::cpu
