#pragma once

#include "kernels/core/op_context.hpp"
#include "kernels/core/tensor.hpp"

namespace omni {

/// out = x / sqrt(mean(x^2) + epsilon) * weight, row by row. With `add`, x becomes x + add first (the residual stream).
struct rms_norm_args {
  tensor x;                      // [rows, width] f32, changed if `add` is given
  tensor add;                    // [rows, width] f32, or empty
  const float* weight = nullptr; // [width]
  float epsilon = 0.0F;
  tensor out; // [rows, width] f32, written; may be `x` when `add` is empty
};
void rms_norm(const rms_norm_args& args, const op_context& context);

/// Aborts unless the shapes fit.
void check(const rms_norm_args& args);

} // namespace omni
