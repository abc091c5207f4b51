#pragma once

#include "kernels/core/op_context.hpp"
#include "kernels/ops/conv_weights.hpp"

#include <cstdint>
#include <span>

namespace omni {

/// What a kernel reads of `conv_weights`; `bias` may be another one than theirs (a speaker's).
struct conv_panels {
  const float* panels = nullptr; // [ceil(out / 32), taps, in, 32]
  const float* bias = nullptr;   // [ceil(out / 32) * 32] or null
  std::int64_t in = 0;
  std::int64_t out = 0;
  std::int64_t taps = 1;
  std::int64_t dilation = 1;

  conv_panels() = default;
  explicit conv_panels(const conv_weights& w)
      : panels(reinterpret_cast<const float*>(w.panels.data())), bias(reinterpret_cast<const float*>(w.bias.data())),
        in(w.in), out(w.out), taps(w.taps), dilation(w.dilation) {}
};

/// v[t] = (bias + sum over taps k and channels of weight * x[t + k * dilation] + residual[t]) * scale;
/// v goes to `out`, max(v, slope * v) to `activated`.
/// Each value is summed in one fixed order (taps, then channels), so it depends neither on how time is cut into calls
/// nor on the threads.
struct conv_args {
  const float* x = nullptr;        // [rows + (taps - 1) * dilation, in], row stride x_stride
  std::int64_t x_stride = 0;       // values from row to row, >= in
  std::int64_t rows = 0;           // output rows
  const float* residual = nullptr; // [rows, out] or null; may be `out`
  float scale = 1.0F;
  float* out = nullptr;        // [rows, out] written, or null
  float* activated = nullptr;  // [rows, out] written, or null
  float slope = 0.0F;          // of leaky_relu, in [0, 1]; 0 is relu
  std::int64_t out_stride = 0; // values from row to row of the three above, >= out
};

struct conv_job {
  conv_panels w;
  conv_args a;
};

/// Computes jobs that do not depend on each other, at most 16.
void conv(std::span<const conv_job> jobs, const op_context& context);
inline void conv(const conv_job& job, const op_context& context) { conv(std::span(&job, 1), context); }

/// Sums up convolutions over the same output rows and columns, at most 16: v[t] is the sum of all, residuals included.
/// `scale`, `out`, `activated` and `slope` are those of the last one.
void conv_sum(std::span<const conv_job> summands, const op_context& context);

/// out[t] = f(bias + sum over taps k and channels of weight * x[t + k]), f being tanh or the limits -1 and 1.
struct conv_to_mono_args {
  const conv_to_mono_weights* weights = nullptr;
  const float* x = nullptr; // [rows + taps - 1, in], dense
  std::int64_t rows = 0;
  float* out = nullptr; // [rows] written
  bool limited = false; // in place of tanh
};
void conv_to_mono(const conv_to_mono_args& args, const op_context& context);

/// out[t][c] = bias[c] + sum over taps k of weight[k][c] * x[t + k * dilation][c].
struct conv_depthwise_args {
  const depthwise_weights* weights = nullptr;
  const float* x = nullptr; // [rows + (taps - 1) * dilation, channels], dense
  std::int64_t rows = 0;
  float* out = nullptr; // [rows, channels] written, dense
};
void conv_depthwise(const conv_depthwise_args& args, const op_context& context);

} // namespace omni
