#pragma once

#include "kernels/ops/conv.hpp"

#include <algorithm>

namespace omni::vits {

/// A convolution of dense rows into dense rows. `x` is the first row that is read.
inline conv_job dense_job(const conv_weights& w, const float* x, std::int64_t rows, float* out) {
  conv_args a;
  a.x = x, a.x_stride = w.in, a.rows = rows, a.out = out, a.out_stride = w.out;
  return {conv_panels(w), a};
}

/// Scratch rows with `around` rows of zeros before and after them; the rows themselves are to be written.
inline float* padded_rows(std::int64_t around, std::int64_t rows, std::int64_t width, const op_context& context) {
  float* memory = context.scratch.floats((rows + 2 * around) * width);
  std::fill_n(memory, around * width, 0.0F);
  std::fill_n(memory + (around + rows) * width, around * width, 0.0F);
  return memory + around * width;
}

} // namespace omni::vits
