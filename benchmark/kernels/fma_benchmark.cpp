// What one core can do at most: multiply-adds between registers, with the widest vectors that it has.
#include "kernels/cpu/roofs.hpp"

#include <benchmark/benchmark.h>

namespace omni {
namespace {

void fma_loop(benchmark::State& state) {
  std::int64_t each = 0;
  for (auto _ : state) each = cpu::multiply_add_rounds(100'000);
  state.counters["mac"] = {static_cast<double>(each), benchmark::Counter::kIsIterationInvariantRate};
}
BENCHMARK(fma_loop);

} // namespace
} // namespace omni
