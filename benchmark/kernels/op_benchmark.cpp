// The op cases of the tests, timed. The first two say what this machine could do in the same run: bytes copied and
// multiply-adds of one thread; a kernel cannot beat them.
#include "kernels/ops/attention.hpp"
#include "kernels/ops/linear.hpp"
#include "test/support/compute_fixture.hpp"
#include "test/support/op_cases.hpp"
#include "test/support/random_floats.hpp"
#include "test/support/random_weights.hpp"

#include <benchmark/benchmark.h>
#include <cmath>
#include <cstring>
#include <numeric>
#include <thread>

namespace omni {
namespace {

using test::compute_fixture;

double wide(std::int64_t x) { return static_cast<double>(x); }

benchmark::Counter per_second(double x) {
  return {x, benchmark::Counter::kIsIterationInvariantRate, benchmark::Counter::kIs1000};
}

void copy_memory(benchmark::State& state) {
  std::vector<std::byte> from(static_cast<std::size_t>(state.range(0))), to(from.size());
  for (auto _ : state) {
    std::memcpy(to.data(), from.data(), from.size());
    benchmark::ClobberMemory();
  }
  state.counters["bytes"] = per_second(wide(state.range(0)));
}
BENCHMARK(copy_memory)->Arg(256 << 10)->Arg(64 << 20);

/// One F32 product whose weights stay in the first-level cache: as many multiply-adds as the kernel can do.
void multiply_add(benchmark::State& state) {
  compute_fixture on(1);
  constexpr std::int64_t m = 64, n = 32, k = 128;
  weight_arena arena;
  const packed_weight weight = pack_weight(test::random_matrix(dtype::f32, n, k, 1).view(), false, arena);
  auto x = test::random_floats(m * k, 2);
  std::vector<float> out(static_cast<std::size_t>(m * n));
  const linear_input input = prepare_linear({tensor(x.data(), {m, k}), false}, on.context);
  for (auto _ : state) linear({{&input, &weight, nullptr}, {}, tensor(out.data(), {m, n})}, on.context);
  state.counters["mac"] = per_second(wide(m * n * k));
}
BENCHMARK(multiply_add);

unsigned all_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

void run_linear(benchmark::State& state, const test::linear_case& c) {
  compute_fixture on(all_threads());
  weight_arena arena;
  const packed_weight weight = pack_weight(test::random_matrix(c.type, c.out, c.in, 1).view(), false, arena);
  auto x = test::random_floats(c.rows * c.in, 2);
  std::vector<float> out(static_cast<std::size_t>(c.rows * c.out));
  for (auto _ : state) {
    const workspace::scope scope(on.scratch);
    const linear_input input = prepare_linear({tensor(x.data(), {c.rows, c.in}), wants_quantised(weight)}, on.context);
    linear({{&input, &weight, nullptr}, {}, tensor(out.data(), {c.rows, c.out})}, on.context);
  }
  state.counters["mac"] = per_second(wide(c.rows * c.out * c.in));
  state.counters["weight_bytes"] = per_second(wide(weight.bytes()));
}

void run_attention(benchmark::State& state, const test::attention_case& c) {
  compute_fixture on(all_threads());
  const std::int64_t tokens = c.before + c.rows, rows = c.rows * c.sequences, blocks = (tokens + 15) / 16;
  kv_layer cache{nullptr, dtype::f16, blocks * c.sequences, 0, 16, c.kv_heads, c.head_dim};
  cache.block_stride = cache.block_bytes();
  std::vector<std::byte> memory(static_cast<std::size_t>(cache.blocks * cache.block_bytes()));
  cache.data = memory.data();
  std::vector<std::int32_t> table(static_cast<std::size_t>(cache.blocks));
  std::iota(table.begin(), table.end(), 0);
  std::vector<sequence_rows> sequences;
  for (std::int64_t s = 0; s < c.sequences; ++s)
    sequences.push_back({s * c.rows, c.rows, c.before, std::span(table).subspan(static_cast<std::size_t>(s * blocks))});
  auto query = test::random_floats(rows * c.heads * c.head_dim, 1);
  std::vector<float> out(query.size());
  const shape extents{rows, c.heads, c.head_dim};
  for (auto _ : state)
    attention({tensor(query.data(), extents), cache, sequences, 1.0F / std::sqrt(static_cast<float>(c.head_dim)), 0,
               tensor(out.data(), extents)},
              on.context);
  const double keys = wide(rows) * (wide(c.before) + wide(c.rows + 1) / 2.0); // over all rows
  state.counters["mac"] = per_second(2.0 * keys * wide(c.heads * c.head_dim));
}

const bool registered = [] {
  for (const auto& c : test::linear_cases)
    if (c.timed) benchmark::RegisterBenchmark(("linear/" + name_of(c)).c_str(), run_linear, c)->UseRealTime();
  for (const auto& c : test::attention_cases)
    if (c.timed) benchmark::RegisterBenchmark(("attention/" + name_of(c)).c_str(), run_attention, c)->UseRealTime();
  return true;
}();

} // namespace
} // namespace omni
