#include "kernels/ops/conv_weights.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>

namespace omni {
namespace {

float* floats(const buffer& memory) { return reinterpret_cast<float*>(memory.data()); }

std::int64_t size_of(std::span<const float> values) { return static_cast<std::int64_t>(values.size()); }

/// `bias` repeated `copies` times, filled up with zeros to whole panels.
buffer padded_bias(std::span<const float> bias, std::int64_t out, std::int64_t copies) {
  buffer padded(static_cast<std::size_t>(conv_panels_of(out * copies) * conv_panel) * sizeof(float));
  if (!bias.empty())
    for (std::int64_t i = 0; i < copies; ++i) std::copy_n(bias.data(), out, floats(padded) + i * out);
  return padded;
}

buffer empty_panels(const conv_weights& w) {
  return buffer(static_cast<std::size_t>(conv_panels_of(w.out) * conv_panel * w.taps * w.in) * sizeof(float));
}

/// Where the weight of (output column, tap, input channel) lies in the panels.
std::int64_t packed_index(const conv_weights& w, std::int64_t column, std::int64_t tap, std::int64_t channel) {
  return ((column / conv_panel * w.taps + tap) * w.in + channel) * conv_panel + column % conv_panel;
}

} // namespace

conv_weights pack_conv(std::span<const float> weight, std::span<const float> bias, const shape& out_in_taps,
                       std::int64_t dilation) {
  conv_weights w{out_in_taps[1], out_in_taps[0], out_in_taps[2], dilation, {}, {}};
  OMNI_CHECK(size_of(weight) == out_in_taps.values(), "weight must have the given shape");
  OMNI_CHECK(bias.empty() || size_of(bias) == w.out, "bias must have one value per output");
  w.panels = empty_panels(w);
  w.bias = padded_bias(bias, w.out, 1);
  const float* from = weight.data();
  for (std::int64_t o = 0; o < w.out; ++o)
    for (std::int64_t i = 0; i < w.in; ++i)
      for (std::int64_t k = 0; k < w.taps; ++k) floats(w.panels)[packed_index(w, o, k, i)] = *from++;
  return w;
}

conv_weights pack_transposed_conv(std::span<const float> weight, std::span<const float> bias,
                                  const shape& in_out_kernel, std::int64_t stride) {
  const auto in = in_out_kernel[0];
  const auto out = in_out_kernel[1];
  const auto kernel = in_out_kernel[2];
  OMNI_CHECK(size_of(weight) == in_out_kernel.values(), "weight must have the given shape");
  OMNI_CHECK(bias.empty() || size_of(bias) == out, "bias must have one value per output");
  conv_weights w{in, stride * out, (kernel + stride - 1) / stride, 1, {}, {}};
  w.panels = empty_panels(w);
  w.bias = padded_bias(bias, out, stride);
  // Input row i reaches output i*stride + k through weight k, so phase p of row i takes weight p + m*stride from row
  // i-m.
  const float* from = weight.data();
  for (std::int64_t i = 0; i < in; ++i)
    for (std::int64_t o = 0; o < out; ++o)
      for (std::int64_t k = 0; k < kernel; ++k)
        floats(w.panels)[packed_index(w, k % stride * out + o, w.taps - 1 - k / stride, i)] = *from++;
  return w;
}

conv_to_mono_weights pack_conv_to_mono(std::span<const float> weight, float bias, std::int64_t in, std::int64_t taps) {
  OMNI_CHECK(size_of(weight) == in * taps, "weight must have the given shape");
  conv_to_mono_weights w{in, taps, bias, buffer(weight.size_bytes())};
  const float* from = weight.data();
  for (std::int64_t i = 0; i < in; ++i)
    for (std::int64_t k = 0; k < taps; ++k) floats(w.weight)[k * in + i] = *from++;
  return w;
}

depthwise_weights pack_depthwise(std::span<const float> weight, std::span<const float> bias, std::int64_t channels,
                                 std::int64_t taps, std::int64_t dilation) {
  OMNI_CHECK(size_of(weight) == channels * taps, "weight must have the given shape");
  OMNI_CHECK(size_of(bias) == channels, "bias must have one value per channel");
  depthwise_weights w{channels, taps, dilation, buffer(weight.size_bytes()), buffer(bias.size_bytes())};
  const float* from = weight.data();
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t k = 0; k < taps; ++k) floats(w.weight)[k * channels + c] = *from++;
  std::copy(bias.begin(), bias.end(), floats(w.bias));
  return w;
}

} // namespace omni
