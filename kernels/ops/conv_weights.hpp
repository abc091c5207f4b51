#pragma once

#include "kernels/core/buffer.hpp"

#include <cstdint>
#include <span>

namespace omni {

/// Columns of one panel of packed convolution weights. The last panel is filled up with zeros.
inline constexpr std::int64_t conv_panel = 32;
constexpr std::int64_t conv_panels_of(std::int64_t columns) { return (columns + conv_panel - 1) / conv_panel; }

/// A convolution over time in kernel layout. Sound and its features lie channel-last, one row of channels per instant,
/// so that a chunk of time is a run of rows, a 1x1 convolution is a matrix product, and a transposed convolution of
/// stride s writes s rows at once.
struct conv_weights {
  std::int64_t in = 0;       // input channels
  std::int64_t out = 0;      // output columns
  std::int64_t taps = 0;     // input rows that one output row reads
  std::int64_t dilation = 1; // distance of those rows
  buffer panels;             // [ceil(out / 32), taps, in, 32] F32
  buffer bias;               // [ceil(out / 32) * 32] F32

  /// Distance of the first and the last input row that one output row reads.
  [[nodiscard]] std::int64_t span() const { return (taps - 1) * dilation; }
};

/// Packs a Conv1d: `weight` [out, in, taps], `bias` [out] or empty (PyTorch's order).
conv_weights pack_conv(std::span<const float> weight, std::span<const float> bias, const shape& out_in_taps,
                       std::int64_t dilation = 1);

/// Packs a ConvTranspose1d: `weight` [in, out, kernel], `bias` [out] or empty. The result has stride * out columns: fed
/// with input rows i - taps + 1 .. i, its row holds the outputs i * stride .. i * stride + stride - 1, counted before
/// padding is cut off.
conv_weights pack_transposed_conv(std::span<const float> weight, std::span<const float> bias,
                                  const shape& in_out_kernel, std::int64_t stride);

/// A convolution with a single output channel: one dot product per output value.
struct conv_to_mono_weights {
  std::int64_t in = 0;
  std::int64_t taps = 0;
  float bias = 0;
  buffer weight; // [taps, in] F32
};
/// `weight` [1, in, taps].
conv_to_mono_weights pack_conv_to_mono(std::span<const float> weight, float bias, std::int64_t in, std::int64_t taps);

/// A depthwise convolution: each channel has its own taps.
struct depthwise_weights {
  std::int64_t channels = 0;
  std::int64_t taps = 0;
  std::int64_t dilation = 1;
  buffer weight; // [taps, channels] F32
  buffer bias;   // [channels] F32
};
/// `weight` [channels, 1, taps], `bias` [channels].
depthwise_weights pack_depthwise(std::span<const float> weight, std::span<const float> bias, std::int64_t channels,
                                 std::int64_t taps, std::int64_t dilation);

} // namespace omni
