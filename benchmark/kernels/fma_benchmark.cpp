// What one core can do at most: multiply-adds between registers, with the widest vectors that it has.
#include "kernels/cpu/isa.hpp"

#include <benchmark/benchmark.h>
#include <cstdint>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "benchmark/kernels/fma_benchmark.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace omni {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

constexpr int chains = 12; // enough to hide the latency of two units

/// Runs `rounds` rounds and returns the multiply-adds of one.
std::int64_t fma_rounds(std::int64_t rounds) {
  const hn::ScalableTag<float> d;
  hn::Vec<decltype(d)> sums[chains];
  for (int i = 0; i < chains; ++i) sums[i] = hn::Set(d, static_cast<float>(i));
  const auto factor = hn::Set(d, 0.999F);
  const auto addend = hn::Set(d, 0.001F);
  for (std::int64_t round = 0; round < rounds; ++round) {
    HWY_UNROLL(12)
    for (int i = 0; i < chains; ++i) sums[i] = hn::MulAdd(sums[i], factor, addend);
  }
  for (int i = 1; i < chains; ++i) sums[0] = hn::Add(sums[0], sums[i]);
  benchmark::DoNotOptimize(hn::GetLane(hn::SumOfLanes(d, sums[0])));
  return chains * static_cast<std::int64_t>(hn::Lanes(d));
}

} // namespace HWY_NAMESPACE
} // namespace omni
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace omni {
namespace {

HWY_EXPORT(fma_rounds);

void fma_loop(benchmark::State& state) {
  constexpr std::int64_t rounds = 100000;
  std::int64_t each = 0;
  for (auto _ : state) each = HWY_DYNAMIC_DISPATCH(fma_rounds)(rounds);
  state.counters["mac"] = {static_cast<double>(each * rounds), benchmark::Counter::kIsIterationInvariantRate};
}
BENCHMARK(fma_loop);

} // namespace
} // namespace omni
#endif
