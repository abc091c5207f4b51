#pragma once

#include "kernels/core/op_context.hpp"

#include <cstdint>

namespace omni {

/// Layer normalisation over the channels of each row:
///   y = (v - mean(v)) / sqrt(var(v) + epsilon) * gamma + beta, with v = x + add, which also goes to `sum`;
///   gelu: y = y/2 (1 + erf(y / sqrt 2));  out = residual + y.
/// `out` may be any of the inputs, `sum` may be `x` or `add` but not `out`.
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
  float epsilon = 1e-5F;
  float* sum = nullptr; // [rows, channels] written, or null
};
void layer_norm(const layer_norm_args& args, const op_context& context);

/// y = f(x), value by value; `out` may be `x`.
enum class activation : std::uint8_t {
  gelu,      // x/2 (1 + erf(x / sqrt 2))
  gelu_tanh, // x/2 (1 + tanh(sqrt(2 / pi) (x + 0.044715 x^3)))
  silu,      // x / (1 + e^-x)
  snake,     // x + sin(rate x)^2 * gain, rate and gain of the channel (BigVGAN's SnakeBeta)
};
struct activate_args {
  activation f = activation::gelu;
  const float* x = nullptr; // [rows, channels]
  float* out = nullptr;     // [rows, channels] written
  std::int64_t rows = 0;
  std::int64_t channels = 0;
  const float* rate = nullptr; // [channels], snake
  const float* gain = nullptr; // [channels], snake
};
void activate(const activate_args& args, const op_context& context);

/// out = tanh(left half of in) * sigmoid(right half of in).
struct tanh_sigmoid_gate_args {
  const float* in = nullptr; // [rows, 2 * channels]
  float* out = nullptr;      // [rows, channels] written
  std::int64_t rows = 0;
  std::int64_t channels = 0;
};
void tanh_sigmoid_gate(const tanh_sigmoid_gate_args& args, const op_context& context);

} // namespace omni
