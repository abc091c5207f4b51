#pragma once

#include "kernels/core/op_context.hpp"

#include <cstdint>

namespace omni {

/// Layer normalisation over the channels of each row, eps 1e-5:
///   y = (v - mean(v)) / sqrt(var(v) + eps) * gamma + beta, with v = x + add;
///   gelu: y = y/2 (1 + erf(y / sqrt 2));  out = residual + y.
/// `out` may be any of the inputs.
struct layer_norm_args {
  const float* x = nullptr;     // [rows, channels]
  const float* add = nullptr;   // [rows, channels] or null
  const float* gamma = nullptr; // [channels]
  const float* beta = nullptr;  // [channels]
  bool gelu = false;
  const float* residual = nullptr; // [rows, channels] or null
  float* out = nullptr;            // [rows, channels] written
  std::int64_t rows = 0;
  std::int64_t channels = 0;
};
void layer_norm(const layer_norm_args& args, const op_context& context);

/// out = tanh(left half of in) * sigmoid(right half of in).
struct tanh_sigmoid_gate_args {
  const float* in = nullptr; // [rows, 2 * channels]
  float* out = nullptr;      // [rows, channels] written
  std::int64_t rows = 0;
  std::int64_t channels = 0;
};
void tanh_sigmoid_gate(const tanh_sigmoid_gate_args& args, const op_context& context);

} // namespace omni
