// Whole steps of the default thinker, if its weights are there: a prompt of 512 tokens, and decoding 1 and 16 streams.
#include "kernels/models/stage_model.hpp"
#include "kernels/runtime/runner.hpp"
#include "test/support/default_models.hpp"

#include <benchmark/benchmark.h>
#include <exception>
#include <numeric>
#include <thread>
#include <vector>

namespace omni {
namespace {

constexpr std::int32_t blocks_of_sequence = 40; // of 16 tokens

/// Streams of the thinker, each in its own blocks.
class streams {
public:
  explicit streams(std::int64_t count) : pool_(std::max(1U, std::thread::hardware_concurrency())) {
    const auto path = test::default_model("SmolLM2-135M-Instruct.Q4_1.gguf");
    runner_ = load_stage_model({path, "thinker", "auto"})->make_runner({}, pool_);
    for (sequence_slot slot = 0; slot < count; ++slot) {
      sequence_params params;
      params.sampling.temperature = 0.0F;
      runner_->open(slot, params);
      tables_.emplace_back(blocks_of_sequence);
      std::iota(tables_.back().begin(), tables_.back().end(), slot * blocks_of_sequence);
    }
  }
  ~streams() {
    for (std::size_t slot = 0; slot < tables_.size(); ++slot) runner_->close(static_cast<sequence_slot>(slot));
  }

  /// Feeds the same tokens to every stream.
  void feed(const std::vector<std::int32_t>& tokens, std::int32_t position) {
    batch work;
    for (std::size_t slot = 0; slot < tables_.size(); ++slot) {
      batch_item item;
      item.slot = static_cast<sequence_slot>(slot);
      item.tokens = tokens;
      item.position = position;
      item.block_table = tables_[slot];
      item.sample = true;
      work.items.push_back(item);
    }
    benchmark::DoNotOptimize(runner_->execute(work));
  }

private:
  thread_pool pool_;
  std::unique_ptr<runner> runner_;
  std::vector<std::vector<std::int32_t>> tables_;
};

/// Runs `body` over streams; without the weights the benchmark says so and is over.
template <class Body>
void with_streams(benchmark::State& state, std::int64_t count, Body&& body) {
  try {
    streams all(count);
    body(all);
  } catch (const std::exception& problem) {
    state.SkipWithError(problem.what());
  }
}

void prefill(benchmark::State& state) {
  with_streams(state, 1, [&](streams& s) {
    std::vector<std::int32_t> prompt(static_cast<std::size_t>(state.range(0)));
    for (std::size_t i = 0; i < prompt.size(); ++i) prompt[i] = static_cast<std::int32_t>(i * 7919 % 40000);
    for (auto _ : state) s.feed(prompt, 0);
    state.SetItemsProcessed(state.iterations() * state.range(0));
  });
}
BENCHMARK(prefill)->Arg(512)->UseRealTime()->Unit(benchmark::kMillisecond);

void decode(benchmark::State& state) {
  with_streams(state, state.range(0), [&](streams& s) {
    constexpr std::int32_t context = 128, longest = 256;
    s.feed(std::vector<std::int32_t>(context, 5), 0);
    std::int32_t position = context;
    for (auto _ : state) {
      s.feed({100}, position);
      if (++position == longest) position = context;
    }
    state.SetItemsProcessed(state.iterations() * state.range(0));
  });
}
BENCHMARK(decode)->Arg(1)->Arg(16)->UseRealTime()->Unit(benchmark::kMillisecond);

} // namespace
} // namespace omni
