#include "kernels/models/qwen3_omni/talker.hpp"

#include "kernels/models/decoder/decoder_model.hpp"
#include "kernels/models/qwen3_omni/talker_runner.hpp"
#include "kernels/weights/reject.hpp"

#include <algorithm>

namespace omni::qwen3_omni {
namespace {

class talker_stage final : public stage_model {
public:
  talker_stage(const model_config& config, const checkpoint& file, bool as_f32)
      : model_(std::make_shared<talker_model>(*config.talker, config.tokens, config.thinker.vocab,
                                              config.thinker.hidden, file, as_f32)),
        frames_per_second_(static_cast<double>(sample_rate_out) /
                           static_cast<double>(config.code2wav->samples_per_frame())),
        fingerprint_(fingerprint_of(file)) {}

  [[nodiscard]] std::unique_ptr<runner> make_runner(const runner_options& options, thread_pool& pool) const override {
    return std::make_unique<talker_runner>(model_, frames_per_second_, options, pool);
  }
  [[nodiscard]] stage_ports ports() const override { return {payload::kind::tokens, payload::kind::rows, {}}; }
  [[nodiscard]] std::vector<std::string> speakers() const override {
    std::vector<std::string> names;
    for (const auto& [name, code] : model_->config().speakers) names.push_back(name);
    std::stable_partition(names.begin(), names.end(), [](const auto& name) { return name == usual_speaker; });
    return names;
  }
  /// Those of the reference.
  [[nodiscard]] sampling_params default_sampling() const override {
    sampling_params sampling;
    sampling.temperature = 0.9F;
    sampling.top_k = 50;
    sampling.repetition_penalty = 1.05F;
    sampling.max_tokens = 4096;
    return sampling;
  }
  [[nodiscard]] std::uint64_t fingerprint() const override { return fingerprint_; }

private:
  std::shared_ptr<const talker_model> model_;
  double frames_per_second_;
  std::uint64_t fingerprint_;
};

} // namespace

std::shared_ptr<const stage_model> load_talker(const stage_model_spec& spec) {
  const bool as_f32 = wants_f32(spec);
  const auto config = load_config(spec.model, wants_dummy(spec));
  if (!config.talker)
    reject(config.where, "this checkpoint does not speak (enable_audio_output is false); run its thinker alone");
  return std::make_shared<talker_stage>(config, *open_weights(spec), as_f32);
}

} // namespace omni::qwen3_omni
