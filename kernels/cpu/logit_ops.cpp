#include "kernels/cpu/logit_ops.hpp"

#include "kernels/cpu/isa.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/logit_ops.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace omni::HWY_NAMESPACE {

/// Calls body(group, values) with 64 values each; the last group is filled up with `filler`.
template <class Body>
HWY_INLINE void each_group(const float* x, std::int64_t count, float filler, const Body& body) {
  std::int64_t g = 0;
  for (; (g + 1) * cpu::logit_group <= count; ++g) body(g, x + g * cpu::logit_group);
  if (g * cpu::logit_group == count) return;
  float last[cpu::logit_group];
  std::fill_n(last, cpu::logit_group, filler);
  std::copy_n(x + g * cpu::logit_group, count - g * cpu::logit_group, last);
  body(g, last);
}

void maxima(const float* x, std::int64_t count, float* most) {
  each_group(x, count, -std::numeric_limits<float>::infinity(), [=](std::int64_t g, const float* p) HWY_ATTR {
    most[g] = max_lane(max(max(load16(p), load16(p + 16)), max(load16(p + 32), load16(p + 48))));
  });
}

void exp_sums(const float* x, std::int64_t count, float largest, float scale, float* sums) {
  const f32x16 top = splat(largest), factor = splat(scale);
  each_group(x, count, -std::numeric_limits<float>::infinity(), [=](std::int64_t g, const float* p) HWY_ATTR {
    f32x16 total = splat(0.0F);
    for (int i = 0; i < cpu::logit_group; i += lanes16) total = total + exp((load16(p + i) - top) * factor);
    sums[g] = sum(total);
  });
}

void weights_of(const float* x, std::int64_t count, float largest, float scale, float* weights) {
  const f32x16 top = splat(largest), factor = splat(scale);
  std::int64_t i = 0;
  for (; i + lanes16 <= count; i += lanes16) store16(exp((load16(x + i) - top) * factor), weights + i);
  if (i == count) return;
  float last[lanes16] = {};
  std::copy_n(x + i, count - i, last);
  store16(exp((load16(last) - top) * factor), last);
  std::copy_n(last, count - i, weights + i);
}

} // namespace omni::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace omni {
HWY_EXPORT(maxima);
HWY_EXPORT(exp_sums);
HWY_EXPORT(weights_of);

namespace cpu {

void group_maxima(const float* x, std::int64_t count, float* most) { HWY_DYNAMIC_DISPATCH(maxima)(x, count, most); }
void group_exp_sums(const float* x, std::int64_t count, float largest, float scale, float* sums) {
  HWY_DYNAMIC_DISPATCH(exp_sums)(x, count, largest, scale, sums);
}
void exp_weights(const float* x, std::int64_t count, float largest, float scale, float* weights) {
  HWY_DYNAMIC_DISPATCH(weights_of)(x, count, largest, scale, weights);
}

} // namespace cpu
} // namespace omni
#endif
