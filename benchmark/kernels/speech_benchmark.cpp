// Convolutions of the default voice (compare `mac` with fma_loop of the same run, which is one core), and its two
// stages as a whole if its weights are there: `audio_seconds` of sound made in a second.
#include "kernels/models/vits/hifigan.hpp"
#include "kernels/models/vits/talker.hpp"
#include "kernels/ops/conv.hpp"
#include "test/support/compute_fixture.hpp"
#include "test/support/default_models.hpp"
#include "test/support/random_floats.hpp"

#include <benchmark/benchmark.h>
#include <exception>
#include <string>
#include <thread>
#include <vector>

namespace omni {
namespace {

using test::compute_fixture;
using test::random_floats;

unsigned all_threads() { return std::max(1U, std::thread::hardware_concurrency()); }

struct conv_case {
  const char* name;
  std::int64_t rows, in, out, taps, dilation;
};

// 16 frames of the medium voice's decoder, layer by layer, and its flow.
constexpr conv_case conv_cases[] = {
    {"conv_pre", 16, 192, 256, 7, 1},         {"upsample_0", 16, 256, 1024, 2, 1}, {"stage_0_k3", 128, 128, 128, 3, 1},
    {"stage_0_k7_d12", 128, 128, 128, 7, 12}, {"upsample_1", 128, 128, 512, 2, 1}, {"stage_1_k3", 1024, 64, 64, 3, 1},
    {"stage_1_k7_d12", 1024, 64, 64, 7, 12},  {"upsample_2", 1024, 64, 128, 2, 1}, {"stage_2_k3", 4096, 32, 32, 3, 1},
    {"stage_2_k7_d12", 4096, 32, 32, 7, 12},  {"flow_in", 128, 192, 384, 5, 1},    {"flow_1x1", 128, 192, 192, 1, 1}};

void run_conv(benchmark::State& state, const conv_case& c, unsigned threads) {
  compute_fixture on(threads);
  const auto weight = random_floats(c.out * c.in * c.taps, 1);
  const auto bias = random_floats(c.out, 2);
  const auto x = random_floats((c.rows + (c.taps - 1) * c.dilation) * c.in, 3);
  const auto packed = pack_conv(weight, bias, {c.out, c.in, c.taps}, c.dilation);
  std::vector<float> out(static_cast<std::size_t>(c.rows * c.out));
  std::vector<float> activated(out.size());
  conv_args a;
  a.x = x.data(), a.x_stride = c.in, a.rows = c.rows, a.out = out.data(), a.out_stride = c.out;
  a.activated = activated.data(), a.slope = 0.1F;
  for (auto _ : state) conv({conv_panels(packed), a}, on.context);
  state.counters["mac"] = {static_cast<double>(c.rows * c.in * c.out * c.taps),
                           benchmark::Counter::kIsIterationInvariantRate};
}

/// The default voice; a benchmark without its weights says so and is over.
struct default_voice {
  vits::voice_config config = vits::voice_config::load(test::default_model("en_US-joe-medium.onnx.json"));
  vits::voice_graph graph{onnx_file::open(test::default_model("en_US-joe-medium.onnx"))};

  [[nodiscard]] double seconds(std::int64_t samples) const {
    return static_cast<double>(samples) / static_cast<double>(config.sample_rate);
  }
};

template <class Body>
void with_voice(benchmark::State& state, Body&& body) {
  try {
    body(default_voice());
  } catch (const std::exception& problem) {
    state.SkipWithError(problem.what());
  }
}

benchmark::Counter audio_seconds(double each) { return {each, benchmark::Counter::kIsIterationInvariantRate}; }

void run_decoder(benchmark::State& state, unsigned threads) {
  with_voice(state, [&](const default_voice& voice) {
    compute_fixture on(threads);
    const vits::hifigan decoder(voice.graph, 0);
    const std::vector<float> no_bias;
    constexpr std::int64_t frames = 172; // two seconds
    const auto latent = random_floats(frames * decoder.frame_width(), 1);
    for (auto _ : state) {
      std::vector<float> samples;
      vits::hifigan::stream stream(decoder, no_bias);
      stream.decode(latent.data(), frames, true, samples, on.context);
      benchmark::DoNotOptimize(samples.data());
    }
    state.counters["audio_seconds"] = audio_seconds(voice.seconds(frames * decoder.samples_per_frame()));
    state.counters["mac"] = {static_cast<double>(frames * decoder.flops_per_frame() / 2),
                             benchmark::Counter::kIsIterationInvariantRate};
  });
}

void run_talker(benchmark::State& state, unsigned threads) {
  with_voice(state, [&](const default_voice& voice) {
    compute_fixture on(threads);
    const vits::talker_weights talker(voice.config, voice.graph);
    const auto frame_samples = vits::samples_per_frame(voice.graph);
    const std::vector<std::vector<float>> no_biases;
    std::vector<std::int64_t> ids; // a sentence of 100 phonemes
    for (std::int64_t i = 0; i < 100; ++i) ids.insert(ids.end(), {14 + i * 7 % 25, 0});
    const vits::speech_style style{.noise_scale = 0.667F, .noise_w = 0.8F, .seed = 1};
    std::int64_t frames = 0;
    for (auto _ : state) {
      std::vector<float> latent;
      vits::utterance sentence(talker, style, ids, 0, no_biases, on.context);
      while (!sentence.next(128, latent, on.context)) {}
      frames = sentence.frames();
    }
    state.counters["audio_seconds"] = audio_seconds(voice.seconds(frames * frame_samples));
  });
}

const bool registered = [] {
  for (const unsigned threads : {1U, all_threads()}) {
    const auto suffix = "/threads:" + std::to_string(threads);
    for (const auto& c : conv_cases)
      benchmark::RegisterBenchmark((std::string("conv/") + c.name + suffix).c_str(), run_conv, c, threads)
          ->UseRealTime();
    benchmark::RegisterBenchmark(("voice/code2wav" + suffix).c_str(), run_decoder, threads)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    benchmark::RegisterBenchmark(("voice/talker" + suffix).c_str(), run_talker, threads)
        ->UseRealTime()
        ->Unit(benchmark::kMillisecond);
    if (all_threads() == 1) break;
  }
  return true;
}();

} // namespace
} // namespace omni
