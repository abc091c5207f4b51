#include "kernels/cpu/conv_kernels.hpp"

#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/isa.hpp"
#include "kernels/cpu/parallel.hpp"

#include <algorithm>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/conv_pointwise.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

HWY_BEFORE_NAMESPACE();
namespace omni::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using lane_tag = hn::CappedTag<float, 16>;
using lanes = hn::Vec<lane_tag>;

HWY_INLINE std::int64_t width() { return static_cast<std::int64_t>(hn::Lanes(lane_tag())); }

/// Calls step(column, mask) over `columns` values; the mask is full but for the last vector.
template <class Step>
HWY_INLINE void for_columns(std::int64_t columns, Step&& step) {
  const lane_tag d;
  std::int64_t c = 0;
  const auto all = hn::FirstN(d, static_cast<std::size_t>(width()));
  for (; c + width() <= columns; c += width()) step(c, all);
  if (c < columns) step(c, hn::FirstN(d, static_cast<std::size_t>(columns - c)));
}

/// Rational fit of erf(x) / x in x^2 over |x| <= 3.925, least maximum relative error (2e-8 before rounding).
HWY_INLINE lanes erf(lanes x) {
  const lane_tag d;
  x = hn::Clamp(x, hn::Set(d, -3.925F), hn::Set(d, 3.925F));
  const auto z = hn::Mul(x, x);
  auto above = hn::Set(d, 2.0462400698306737e-06F);
  for (const float c : {0.00028482804191298783F, 0.003771663410589099F, 0.05276654288172722F, 0.19057244062423706F,
                        1.1283791065216064F})
    above = hn::MulAdd(above, z, hn::Set(d, c));
  auto below = hn::Set(d, 3.804919106187299e-05F);
  for (const float c : {0.0011636519338935614F, 0.014981405809521675F, 0.11417397111654282F, 0.5022231936454773F, 1.0F})
    below = hn::MulAdd(below, z, hn::Set(d, c));
  const auto one = hn::Set(d, 1.0F);
  return hn::Clamp(hn::Div(hn::Mul(x, above), below), hn::Neg(one), one);
}

HWY_INLINE lanes gelu(lanes x) {
  const lane_tag d;
  const auto half = hn::Mul(x, hn::Set(d, 0.5F));
  return hn::MulAdd(half, erf(hn::Mul(x, hn::Set(d, 0.70710678118654752F))), half);
}

void layer_norm_rows(const layer_norm_args& a, std::int64_t first, std::int64_t end) {
  const lane_tag d;
  const auto per_value = 1.0F / static_cast<float>(a.channels);
  for (auto row = first; row < end; ++row) {
    const auto at = row * a.channels;
    float* out = a.out + at;
    const float* x = a.x + at;
    const float* add = a.add != nullptr ? a.add + at : nullptr;
    const auto load = [&](std::int64_t c, auto mask) {
      const auto v = hn::MaskedLoad(mask, d, x + c);
      return add != nullptr ? hn::Add(v, hn::MaskedLoad(mask, d, add + c)) : v;
    };
    auto sum = hn::Zero(d);
    for_columns(a.channels, [&](std::int64_t c, auto mask) {
      const auto v = load(c, mask);
      sum = hn::Add(sum, v);
      if (a.sum != nullptr) hn::BlendedStore(v, mask, d, a.sum + at + c);
    });
    if (a.sum != nullptr) x = a.sum + at, add = nullptr;
    const auto mean = hn::Mul(hn::SumOfLanes(d, sum), hn::Set(d, per_value));
    auto squares = hn::Zero(d);
    for_columns(a.channels, [&](std::int64_t c, auto mask) {
      const auto v = hn::IfThenElseZero(mask, hn::Sub(load(c, mask), mean));
      squares = hn::MulAdd(v, v, squares);
    });
    const auto variance = hn::Mul(hn::SumOfLanes(d, squares), hn::Set(d, per_value));
    const auto scale = hn::Div(hn::Set(d, 1.0F), hn::Sqrt(hn::Add(variance, hn::Set(d, a.epsilon))));
    for_columns(a.channels, [&](std::int64_t c, auto mask) {
      const auto v = hn::Mul(hn::Sub(load(c, mask), mean), scale);
      auto y = hn::MulAdd(v, hn::MaskedLoad(mask, d, a.gamma + c), hn::MaskedLoad(mask, d, a.beta + c));
      if (a.gelu) y = gelu(y);
      if (a.residual != nullptr) y = hn::Add(hn::MaskedLoad(mask, d, a.residual + at + c), y);
      hn::BlendedStore(y, mask, d, out + c);
    });
  }
}

/// The value of each activation; `c` is the column.
HWY_INLINE lanes activated(const activate_args& a, lanes x, std::int64_t c, hn::Mask<lane_tag> mask) {
  const lane_tag d;
  const auto half = hn::Mul(x, hn::Set(d, 0.5F));
  switch (a.f) {
  case activation::gelu:
    return gelu(x);
  case activation::gelu_tanh: {
    const auto cube = hn::Mul(hn::Mul(x, x), x);
    const auto inner = hn::Mul(hn::MulAdd(cube, hn::Set(d, 0.044715F), x), hn::Set(d, 0.79788456080286536F));
    return hn::MulAdd(half, hn::Tanh(d, inner), half);
  }
  case activation::silu:
    return hn::Div(x, hn::Add(hn::Set(d, 1.0F), hn::Exp(d, hn::Neg(x))));
  default: {
    const auto wave = hn::Sin(d, hn::Mul(x, hn::MaskedLoad(mask, d, a.rate + c)));
    return hn::MulAdd(hn::Mul(wave, wave), hn::MaskedLoad(mask, d, a.gain + c), x);
  }
  }
}

void activate_rows(const activate_args& a, std::int64_t first, std::int64_t end) {
  const lane_tag d;
  for (auto row = first; row < end; ++row)
    for_columns(a.channels, [&](std::int64_t c, auto mask) {
      const auto at = row * a.channels + c;
      hn::BlendedStore(activated(a, hn::MaskedLoad(mask, d, a.x + at), c, mask), mask, d, a.out + at);
    });
}

void gate_rows(const tanh_sigmoid_gate_args& a, std::int64_t first, std::int64_t end) {
  const lane_tag d;
  const auto one = hn::Set(d, 1.0F);
  for (auto row = first; row < end; ++row) {
    const float* left = a.in + row * 2 * a.channels;
    for_columns(a.channels, [&](std::int64_t c, auto mask) {
      const auto t = hn::MaskedLoad(mask, d, left + c);
      const auto s = hn::MaskedLoad(mask, d, left + a.channels + c);
      const auto gate = hn::Div(one, hn::Add(one, hn::Exp(d, hn::Neg(s))));
      hn::BlendedStore(hn::Mul(hn::Tanh(d, t), gate), mask, d, a.out + row * a.channels + c);
    });
  }
}

void softmax_rows(float* values, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
  const lane_tag d;
  for (std::int64_t row = 0; row < rows; ++row) {
    float* x = values + row * stride;
    const auto lowest = hn::Set(d, -3.0e38F);
    auto top = lowest;
    for_columns(columns, [&](std::int64_t c, auto mask) {
      top = hn::Max(top, hn::IfThenElse(mask, hn::MaskedLoad(mask, d, x + c), lowest));
    });
    top = hn::MaxOfLanes(d, top);
    auto sum = hn::Zero(d);
    for_columns(columns, [&](std::int64_t c, auto mask) {
      const auto e = hn::IfThenElseZero(mask, hn::Exp(d, hn::Sub(hn::MaskedLoad(mask, d, x + c), top)));
      sum = hn::Add(sum, e);
      hn::BlendedStore(e, mask, d, x + c);
    });
    const auto scale = hn::Div(hn::Set(d, 1.0F), hn::SumOfLanes(d, sum));
    for_columns(columns, [&](std::int64_t c, auto mask) {
      hn::BlendedStore(hn::Mul(hn::MaskedLoad(mask, d, x + c), scale), mask, d, x + c);
    });
  }
}

constexpr int mono_rows_at_once = 8; // outputs that share a weight load

/// Dot products of the weights with the rows from `from[r]` on.
HWY_INLINE void mono_dots(const conv_to_mono_weights& w, const float* const* from, float* HWY_RESTRICT dots) {
  const lane_tag d;
  const auto* weight = reinterpret_cast<const float*>(w.weight.data());
  const auto count = w.in * w.taps;
  lanes sum[mono_rows_at_once];
  HWY_UNROLL(8)
  for (int r = 0; r < mono_rows_at_once; ++r) sum[r] = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + width() <= count; i += width()) {
    const auto v = hn::LoadU(d, weight + i);
    HWY_UNROLL(8)
    for (int r = 0; r < mono_rows_at_once; ++r) sum[r] = hn::MulAdd(hn::LoadU(d, from[r] + i), v, sum[r]);
  }
  if (i < count) {
    const auto mask = hn::FirstN(d, static_cast<std::size_t>(count - i));
    const auto v = hn::MaskedLoad(mask, d, weight + i);
    HWY_UNROLL(8)
    for (int r = 0; r < mono_rows_at_once; ++r) sum[r] = hn::MulAdd(hn::MaskedLoad(mask, d, from[r] + i), v, sum[r]);
  }
  HWY_UNROLL(8)
  for (int r = 0; r < mono_rows_at_once; ++r) dots[r] = hn::GetLane(hn::SumOfLanes(d, sum[r])) + w.bias;
}

void mono_rows(const conv_to_mono_args& a, std::int64_t first, std::int64_t end) {
  const lane_tag d;
  const auto& w = *a.weights;
  for (auto row = first; row < end; row += mono_rows_at_once) {
    const auto rows = std::min<std::int64_t>(mono_rows_at_once, end - row);
    // Short of eight rows the last one is computed again and dropped: one code path for each value.
    const float* from[mono_rows_at_once];
    for (std::int64_t r = 0; r < mono_rows_at_once; ++r) from[r] = a.x + (row + std::min(r, rows - 1)) * w.in;
    HWY_ALIGN float dots[16] = {};
    mono_dots(w, from, dots);
    const auto one = hn::Set(d, 1.0F);
    for (std::int64_t r = 0; r < mono_rows_at_once; r += width()) {
      const auto v = hn::Load(d, dots + r);
      hn::Store(a.limited ? hn::Clamp(v, hn::Neg(one), one) : hn::Tanh(d, v), d, dots + r);
    }
    std::copy_n(dots, rows, a.out + row);
  }
}

void depthwise_rows(const conv_depthwise_args& a, std::int64_t first, std::int64_t end) {
  const lane_tag d;
  const auto& w = *a.weights;
  const auto* weight = reinterpret_cast<const float*>(w.weight.data());
  const auto* bias = reinterpret_cast<const float*>(w.bias.data());
  for (auto row = first; row < end; ++row)
    for_columns(w.channels, [&](std::int64_t c, auto mask) {
      auto sum = hn::MaskedLoad(mask, d, bias + c);
      for (std::int64_t k = 0; k < w.taps; ++k)
        sum = hn::MulAdd(hn::MaskedLoad(mask, d, weight + k * w.channels + c),
                         hn::MaskedLoad(mask, d, a.x + (row + k * w.dilation) * w.channels + c), sum);
      hn::BlendedStore(sum, mask, d, a.out + row * w.channels + c);
    });
}

} // namespace HWY_NAMESPACE
} // namespace omni::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace omni::cpu {
HWY_EXPORT(layer_norm_rows);
HWY_EXPORT(activate_rows);
HWY_EXPORT(gate_rows);
HWY_EXPORT(softmax_rows);
HWY_EXPORT(mono_rows);
HWY_EXPORT(depthwise_rows);

// Costs are guesses for one 256-bit core, in nanoseconds per value.

void cpu_backend::layer_norm(const layer_norm_args& args, const op_context& context) const {
  const auto rows = HWY_DYNAMIC_DISPATCH(layer_norm_rows);
  for_ranges(context, args.rows, (args.gelu ? 1.5 : 0.4) * static_cast<double>(args.channels),
             [&](std::int64_t first, std::int64_t end) { rows(args, first, end); });
}

void cpu_backend::activate(const activate_args& args, const op_context& context) const {
  const auto rows = HWY_DYNAMIC_DISPATCH(activate_rows);
  for_ranges(context, args.rows, 1.5 * static_cast<double>(args.channels),
             [&](std::int64_t first, std::int64_t end) { rows(args, first, end); });
}

void cpu_backend::tanh_sigmoid_gate(const tanh_sigmoid_gate_args& args, const op_context& context) const {
  const auto rows = HWY_DYNAMIC_DISPATCH(gate_rows);
  for_ranges(context, args.rows, 3.0 * static_cast<double>(args.channels),
             [&](std::int64_t first, std::int64_t end) { rows(args, first, end); });
}

void softmax_rows(float* values, std::int64_t rows, std::int64_t columns, std::int64_t stride) {
  HWY_DYNAMIC_DISPATCH(softmax_rows)(values, rows, columns, stride);
}

void cpu_backend::conv_to_mono(const conv_to_mono_args& args, const op_context& context) const {
  const auto rows = HWY_DYNAMIC_DISPATCH(mono_rows);
  for_ranges(context, args.rows, 0.1 * static_cast<double>(args.weights->in * args.weights->taps),
             [&](std::int64_t first, std::int64_t end) { rows(args, first, end); });
}

void cpu_backend::conv_depthwise(const conv_depthwise_args& args, const op_context& context) const {
  const auto rows = HWY_DYNAMIC_DISPATCH(depthwise_rows);
  for_ranges(context, args.rows, 0.1 * static_cast<double>(args.weights->channels * args.weights->taps),
             [&](std::int64_t first, std::int64_t end) { rows(args, first, end); });
}

} // namespace omni::cpu
#endif
