#include "actors/engine.hpp"
#include "test/support/fake_runner.hpp"

#include <benchmark/benchmark.h>

#include <atomic>
#include <latch>

// What an engine costs beside the model: a runner that computes nothing chooses the same token for ever.

namespace omni {
namespace {

class idle_runner final : public runner {
public:
  explicit idle_runner(std::atomic<std::int64_t>& steps) : steps_(steps) {
    info_.block_size = 16;
    info_.blocks = 4096;
    info_.max_model_len = 2048;
    info_.vocab_size = 1000;
  }
  [[nodiscard]] const runner_info& info() const override { return info_; }
  void open(sequence_slot, const sequence_params&) override {}
  void close(sequence_slot) override {}
  step_result execute(const batch& work) override {
    ++steps_;
    step_result result;
    result.items.resize(work.items.size());
    for (auto& item : result.items) item.token.id = 42;
    return result;
  }

private:
  std::atomic<std::int64_t>& steps_;
  runner_info info_;
};

class idle_model final : public stage_model {
public:
  explicit idle_model(std::atomic<std::int64_t>& steps) : steps_(steps) {}
  [[nodiscard]] std::unique_ptr<runner> make_runner(const runner_options&, thread_pool&) const override {
    return std::make_unique<idle_runner>(steps_);
  }
  [[nodiscard]] const text::tokenizer* tokenizer() const override { return &test::fake_tokenizer(); }
  [[nodiscard]] stage_ports ports() const override {
    return {payload::kind::tokens, payload::kind::text, payload::kind::text};
  }
  [[nodiscard]] std::uint64_t fingerprint() const override { return 1; }

private:
  std::atomic<std::int64_t>& steps_;
};

class counting_sink final : public sink {
public:
  counting_sink(std::atomic<std::int64_t>& pieces, std::latch& ended) : pieces_(pieces), ended_(ended) {}
  void on_output(const output&) override { ++pieces_; }
  void on_end(const std::optional<failure>&) override { ended_.count_down(); }

private:
  std::atomic<std::int64_t>& pieces_;
  std::latch& ended_;
};

/// `state.range(0)` streams of 256 tokens at once; statistics on if `state.range(1)`.
void step_loop(benchmark::State& state) {
  std::atomic<std::int64_t> steps{0};
  std::atomic<std::int64_t> pieces{0};
  engine_config config;
  config.threads = 1;
  config.log_stats = state.range(1) != 0;
  auto& stage = config.stages.emplace_back();
  stage.model_stage = "thinker";
  stage.final_output_type = modality::text;
  stage.max_num_seqs = 64;
  const auto running =
      *engine::start(config, [&](const stage_model_spec&) { return std::make_shared<idle_model>(steps); });
  constexpr std::int64_t tokens = 256;
  request what;
  what.prompt = {1, 2, 3};
  what.sampling.max_tokens = tokens;
  for (auto _ : state) {
    std::latch ended(state.range(0));
    for (std::int64_t i = 0; i < state.range(0); ++i)
      benchmark::DoNotOptimize(running->submit(what, std::make_shared<counting_sink>(pieces, ended)));
    ended.wait();
  }
  const auto made = double(state.iterations() * state.range(0) * tokens);
  state.counters["tokens/s"] = benchmark::Counter(made, benchmark::Counter::kIsRate);
  state.counters["steps/s"] = benchmark::Counter(double(steps), benchmark::Counter::kIsRate);
  // Each step is a message to itself, and with statistics a report and its acknowledgement.
  state.counters["messages/token"] = (double(pieces) + double(steps) * (config.log_stats ? 3 : 1)) / made;
}
BENCHMARK(step_loop)->ArgNames({"streams", "statistics"})->ArgsProduct({{1, 16, 64}, {0, 1}})->UseRealTime();

} // namespace
} // namespace omni
