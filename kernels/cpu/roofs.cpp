#include "kernels/cpu/roofs.hpp"

#include "kernels/cpu/isa.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/roofs.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace omni::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// Sums with eight vectors in flight; what does not fill them comes at the end.
float read_loop(const float* values, std::int64_t count) {
  const hn::ScalableTag<float> d;
  constexpr std::int64_t in_flight = 8;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  hn::Vec<decltype(d)> sums[in_flight];
  for (auto& sum : sums) sum = hn::Zero(d);
  std::int64_t i = 0;
  for (; i + in_flight * lanes <= count; i += in_flight * lanes) {
    HWY_UNROLL(8)
    for (std::int64_t j = 0; j < in_flight; ++j) sums[j] = hn::Add(sums[j], hn::LoadU(d, values + i + j * lanes));
  }
  for (std::int64_t j = 1; j < in_flight; ++j) sums[0] = hn::Add(sums[0], sums[j]);
  float sum = hn::GetLane(hn::SumOfLanes(d, sums[0]));
  for (; i < count; ++i) sum += values[i];
  return sum;
}

/// The sum of what was computed, which makes the compiler do it; `done` is written.
float multiply_add_loop(std::int64_t rounds, std::int64_t& done) {
  const hn::ScalableTag<float> d;
  constexpr int chains = 12; // enough to hide the latency of two units
  hn::Vec<decltype(d)> sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = hn::Set(d, static_cast<float>(i));
  const auto factor = hn::Set(d, 0.999F);
  const auto addend = hn::Set(d, 0.001F);
  for (std::int64_t round = 0; round < rounds; ++round) {
    HWY_UNROLL(12)
    for (int i = 0; i < chains; ++i) sums[i] = hn::MulAdd(sums[i], factor, addend);
  }
  for (int i = 1; i < chains; ++i) sums[0] = hn::Add(sums[0], sums[i]);
  done = rounds * chains * static_cast<std::int64_t>(hn::Lanes(d));
  return hn::GetLane(hn::SumOfLanes(d, sums[0]));
}

} // namespace omni::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace omni::cpu {

HWY_EXPORT(read_loop);
HWY_EXPORT(multiply_add_loop);

float read_all(std::span<const float> values) {
  return HWY_DYNAMIC_DISPATCH(read_loop)(values.data(), static_cast<std::int64_t>(values.size()));
}

std::int64_t multiply_add_rounds(std::int64_t rounds) {
  std::int64_t done = 0;
  const float sum = HWY_DYNAMIC_DISPATCH(multiply_add_loop)(rounds, done);
  return sum < 0 ? 0 : done; // the sums are positive: this only uses them
}

} // namespace omni::cpu
#endif
