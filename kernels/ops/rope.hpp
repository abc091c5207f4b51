#pragma once

#include "kernels/core/op_context.hpp"
#include "kernels/core/tensor.hpp"

namespace omni {

/// Turns the first `rotary` dims of every head by its row's angles: pairs are (i, i + rotary/2).
/// With `norm_weight`, each head is first RMS-normalised over all its dims (Qwen3's q and k norm).
struct rope_args {
  tensor x;                           // [rows, heads, head_dim] f32, changed
  tensor cos;                         // [rows, rotary / 2] f32
  tensor sin;                         // [rows, rotary / 2] f32
  const float* norm_weight = nullptr; // [head_dim] or null
  float epsilon = 0.0F;
};
void rope(const rope_args& args, const op_context& context);

} // namespace omni
