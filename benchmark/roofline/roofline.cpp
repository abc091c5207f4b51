// How near each stage of Qwen3-Omni comes to what this machine can do at most: a model of about 0.5 billion random
// parameters, each step beside its floor (kernels/models/stage_cost.hpp), with memory and arithmetic timed in turns
// with it by the same number of threads. Best of each.
//
// usage: roofline [THREADS [STEPS]]    best of STEPS steps (default 12); what else runs on the machine disturbs
#include "actors/cores.hpp"
#include "app/cli/machine.hpp"
#include "kernels/models/qwen3_omni/audio_encoder.hpp"
#include "kernels/models/qwen3_omni/omni_cost.hpp"
#include "kernels/models/qwen3_omni/vocoder.hpp"
#include "kernels/ops/backend.hpp"
#include "kernels/weights/dummy_checkpoint.hpp"
#include "test/kernels/runtime/ar_session.hpp"
#include "test/kernels/weights/file_builder.hpp"
#include "test/support/qwen3_omni_config.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>

namespace omni::qwen3_omni {
namespace {

constexpr std::int64_t batch_size = 16;
constexpr std::int64_t prompt_tokens = 256;

class roofline {
public:
  roofline(unsigned threads, int steps) : threads_(threads), steps_(steps) {
    test::write_config(folder_.path(), test::half_billion_qwen3_omni_config());
    config_ = load_config(folder_.path(), true);
  }

  void run() {
    double values = 0;
    for (const std::string stage : {"thinker", "talker", "code2wav"})
      values += cost_of_stage({folder_.path(), stage}, {}).held().values;
    std::printf("%.0f million parameters in memory, %u threads, best of %d steps\n\n%-34s %10s %10s %9s  %-8s %6s\n",
                values / 1e6, threads_, steps_, "step", "GB/s", "GFLOP/s", "ms", "bound by", "share");
    thinker();
    encoder();
    talker();
    vocoder_calls();
  }

private:
  /// Prints one step's share of its bound. `again` does it once.
  void row(const char* what, double bytes, double flops, const std::function<void()>& again) {
    cli::machine_timer timer(threads_);
    again(); // warms up
    double best = 1e9;
    for (int i = 0; i < steps_; ++i) {
      timer.pass();
      const auto begin = std::chrono::steady_clock::now();
      again();
      best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    const auto& here = timer.best();
    const double reading = bytes / here.bytes_per_s, computing = flops / here.flops_per_s;
    std::printf("%-34s %10.1f %10.1f %9.3f  %-8s %6.2f\n", what, here.bytes_per_s / 1e9, here.flops_per_s / 1e9,
                best * 1e3, reading >= computing ? "memory" : "compute", std::max(reading, computing) / best);
    std::fflush(stdout);
  }

  [[nodiscard]] std::shared_ptr<const stage_model> load(const std::string& stage) const {
    return load_stage_model({folder_.path(), stage, "auto", "dummy"});
  }
  /// Tokens without special meaning.
  static std::vector<std::int32_t> text(std::int64_t count, std::int32_t first) {
    std::vector<std::int32_t> tokens(static_cast<std::size_t>(count));
    for (std::size_t i = 0; i < tokens.size(); ++i) tokens[i] = 1000 + first + 37 * static_cast<std::int32_t>(i);
    return tokens;
  }

  static std::shared_ptr<payload> tokens_payload(const std::vector<std::int32_t>& tokens) {
    return make_payload(payload::kind::tokens, std::span(tokens), 1);
  }

  void thinker() {
    const auto cost = omni::cost_of(config_.thinker, 2.0);
    test::ar_session session(*load("thinker"), {.kv_cache_bytes = std::int64_t{1} << 30U}, threads_);
    sampling_params greedy;
    greedy.temperature = 0.0F;
    std::vector<sequence_slot> slots;
    for (std::int32_t slot = 0; slot < batch_size; ++slot) {
      session.open(slot, text(32, 1000 * slot), greedy);
      slots.push_back(slot);
      session.step({slot});
    }
    row("thinker, decode, 1 sequence", cost.bytes_read(1), cost.flops_per_token(), [&] { session.step({0}); });
    const auto many = static_cast<double>(batch_size);
    row("thinker, decode, 16 sequences", cost.bytes_read(many), many * cost.flops_per_token(),
        [&] { session.step(slots); });
    sequence_slot next = batch_size;
    const auto all = static_cast<double>(prompt_tokens);
    row("thinker, prefill, 256 tokens", cost.bytes_read(all), all * (cost.flops_per_token() - 2 * cost.head.values),
        [&] {
          session.open(next, text(prompt_tokens, next), greedy);
          session.step({next});
          session.close(next++);
        });
  }

  void encoder() {
    const dummy_checkpoint file(folder_.path().string(), dtype::bf16);
    const audio_encoder sounds(config_.audio, file, false);
    const auto cost = cost_of(config_.audio);
    const std::int64_t frames = config_.audio.window_frames();
    const double seconds = static_cast<double>(frames) / 100;
    const std::vector<float> mel(static_cast<std::size_t>(frames * config_.audio.mels), 0.25F);
    row("audio encoder, a window of 8 s", 2 * cost.values, seconds * (cost.flops + cost.attention_flops),
        [&] { on_pool([&](const op_context& context) { (void)sounds.encode(mel, true, nullptr, context); }); });
  }

  void talker() {
    const auto decoder = omni::cost_of(config_.talker->decoder, 2.0);
    const auto predictor = cost_of_predictor(*config_.talker);
    const auto model = load("talker");
    for (const std::int64_t streams : {std::int64_t{1}, batch_size}) {
      const auto made = model->make_runner({}, pool_);
      batch step;
      for (sequence_slot slot = 0; slot < streams; ++slot) {
        made->open(slot, speaking(slot));
        auto& item = step.items.emplace_back();
        item.slot = slot;
        item.input = prompt();
      }
      (void)made->execute(step);
      for (auto& item : step.items) item.input = tokens_payload(text(200, 0));
      (void)made->execute(step);
      for (auto& item : step.items) item.input = nullptr;
      const auto frames = static_cast<double>(streams);
      row(streams == 1 ? "talker, a frame of 1 stream" : "talker, a frame of 16 streams",
          decoder.bytes_read(frames) + 2 * predictor.read_values,
          frames * (decoder.flops_per_token() + predictor.flops), [&] { (void)made->execute(step); });
    }
  }

  void vocoder_calls() {
    const dummy_checkpoint file(folder_.path().string(), dtype::bf16);
    const vocoder model(*config_.code2wav, file);
    const auto cost = cost_of(*config_.code2wav);
    vocoder::stream stream(model);
    for (const std::int64_t frames : {1, 16}) {
      const std::vector<std::int32_t> codes(static_cast<std::size_t>(frames * config_.code2wav->groups), 7);
      std::vector<float> sound;
      row(frames == 1 ? "code2wav, a call of 1 frame" : "code2wav, a call of 16 frames", 4 * cost.read_values,
          static_cast<double>(frames) * cost.flops, [&] {
            sound.clear();
            on_pool([&](const op_context& context) { stream.decode(codes, sound, context); });
          });
    }
  }

  template <class Work>
  void on_pool(Work&& work) {
    const thread_pool::lane::step step(lane_, 0);
    const workspace::scope scope(scratch_);
    work(op_context{cpu_device(), scratch_, lane_});
  }

  static sequence_params speaking(sequence_slot slot) {
    sequence_params params;
    params.sampling.temperature = 1.0F;
    params.sampling.seed = static_cast<std::uint64_t>(slot);
    return params;
  }
  /// A short turn of the user, and the beginning of the reply's.
  [[nodiscard]] std::shared_ptr<const payload> prompt() const {
    const auto& t = config_.tokens;
    std::vector<std::int32_t> tokens{t.im_start, t.user, 0};
    for (const auto token : text(16, 0)) tokens.push_back(token);
    tokens.insert(tokens.end(), {t.im_start, t.assistant, 0});
    auto made = tokens_payload(tokens);
    made->ends_segment = true;
    return made;
  }

  unsigned threads_;
  int steps_;
  test::temporary_folder folder_;
  model_config config_;
  thread_pool pool_{threads_};
  thread_pool::lane lane_{pool_};
  workspace scratch_;
};

} // namespace
} // namespace omni::qwen3_omni

int main(int argc, char** argv) {
  const int threads = argc > 1 ? std::atoi(argv[1]) : static_cast<int>(omni::cores_of_process());
  const int steps = argc > 2 ? std::atoi(argv[2]) : 12;
  if (threads < 1 || steps < 1 || steps > 100) {
    std::fputs("usage: roofline [THREADS [STEPS]], STEPS at most 100\n", stderr);
    return 2;
  }
  omni::qwen3_omni::roofline(static_cast<unsigned>(threads), steps).run();
}
