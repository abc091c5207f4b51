#include "kernels/models/qwen3_omni/code2wav.hpp"

#include "kernels/models/decoder/decoder_model.hpp"
#include "kernels/weights/reject.hpp"

#include <algorithm>

namespace omni::qwen3_omni {
namespace {

// A step is bounded by its work, so that the sequences of a replica take turns.
constexpr std::int64_t step_flops = 20'000'000'000;

class code2wav_stage final : public stage_model {
public:
  code2wav_stage(const code2wav_config& config, const checkpoint& file)
      : model_(std::make_shared<vocoder>(config, file)), fingerprint_(fingerprint_of(file)) {}

  [[nodiscard]] std::unique_ptr<runner> make_runner(const runner_options& options, thread_pool& pool) const override {
    runner_info info;
    info.sample_rate = sample_rate_out;
    return std::make_unique<stream_runner>(
        info, cpu_device(), pool, options.max_threads,
        [model = model_](const sequence_params&) { return std::make_unique<code2wav>(model); });
  }
  [[nodiscard]] stage_ports ports() const override {
    return {payload::kind::rows, payload::kind::samples, payload::kind::samples};
  }
  [[nodiscard]] std::uint64_t fingerprint() const override { return fingerprint_; }

private:
  std::shared_ptr<const vocoder> model_;
  std::uint64_t fingerprint_;
};

} // namespace

code2wav::code2wav(std::shared_ptr<const vocoder> model)
    : model_(std::move(model)), stream_(*model_),
      most_frames_(std::clamp<std::int64_t>(step_flops / model_->flops_per_frame(), 4, 25)) {}

item_result code2wav::step(const batch_item& item, const op_context& context) {
  item_result result;
  if (item.input && !input_ended_) {
    result.input_problem = problem_of(*item.input);
    if (!result.input_problem.empty()) return result;
    waiting_.insert(waiting_.end(), item.input->i32(), item.input->i32() + item.input->rows * item.input->width);
  }
  input_ended_ |= item.end_of_input;
  const auto some =
      std::min(waiting_.size() - taken_, static_cast<std::size_t>(next_frames_ * model_->config().groups));
  if (some > 0) next_frames_ = std::min(2 * next_frames_, most_frames_);
  std::vector<float> samples;
  stream_.decode(std::span(waiting_).subspan(taken_, some), samples, context);
  taken_ += some;
  if (taken_ == waiting_.size()) waiting_.clear(), taken_ = 0;
  if (!samples.empty()) {
    auto sound = make_payload<float>(payload::kind::samples, samples, 1);
    sound->sample_rate = sample_rate_out;
    result.outputs.push_back(std::move(sound));
  }
  result.input_used_up = waiting_.empty();
  result.finished = input_ended_ && waiting_.empty();
  return result;
}

std::string code2wav::problem_of(const payload& frames) const {
  const auto& config = model_->config();
  if (!frames.holds(payload::kind::rows, dtype::i32, config.groups))
    return "The vocoder got rows of " + std::to_string(frames.width) + " values where it needs frames of " +
           std::to_string(config.groups) + " codes: the stages before it run another model.";
  const std::int32_t* const codes = frames.i32();
  const auto wrong = std::find_if(codes, codes + frames.rows * frames.width,
                                  [&](auto code) { return code < 0 || code >= config.codebook; });
  if (wrong == codes + frames.rows * frames.width) return {};
  return "The vocoder got the code " + std::to_string(*wrong) + " where it knows those below " +
         std::to_string(config.codebook) + ": the stages before it run another model.";
}

std::shared_ptr<const stage_model> load_code2wav(const stage_model_spec& spec) {
  (void)wants_f32(spec); // it always is
  const auto config = load_config(spec.model, wants_dummy(spec));
  if (!config.code2wav)
    reject(config.where, "this checkpoint does not speak (enable_audio_output is false); run its thinker alone");
  return std::make_shared<code2wav_stage>(*config.code2wav, *open_weights(spec));
}

} // namespace omni::qwen3_omni
