#include "kernels/models/vits/voice.hpp"

#include "kernels/core/error.hpp"
#include "kernels/models/decoder/decoder_weights.hpp"
#include "kernels/models/vits/code2wav.hpp"
#include "kernels/models/vits/talker.hpp"
#include "kernels/ops/backend.hpp"

#include <algorithm>

namespace omni::vits {
namespace {

struct opened_voice {
  voice_config config;
  voice_graph graph;
  std::uint64_t fingerprint;
};

opened_voice open_voice(const stage_model_spec& spec) {
  auto json = spec.model;
  json += ".json";
  auto file = onnx_file::open(spec.model);
  auto fingerprint = fingerprint_of(*file);
  return {voice_config::load(json), voice_graph(std::move(file)), fingerprint};
}

/// Names of a voice's speakers, the default first, then by number.
std::vector<std::string> names_of(const voice_config& voice) {
  std::vector<std::pair<std::int64_t, std::string>> numbered;
  for (const auto& [name, id] : voice.speaker_ids) numbered.emplace_back(id, name);
  std::sort(numbered.begin(), numbered.end(), [&](const auto& a, const auto& b) {
    const auto rank = [&](const auto& one) { return std::pair(one.first != voice.default_speaker, one); };
    return rank(a) < rank(b);
  });
  std::vector<std::string> names;
  for (auto& [id, name] : numbered) names.push_back(std::move(name));
  return names;
}

/// A voice without names has one way to speak, whatever is asked for.
std::int64_t speaker_of(const voice_config& voice, const std::string& name) {
  if (name.empty() || voice.speaker_ids.empty()) return voice.default_speaker;
  const auto found = voice.speaker_ids.find(name);
  if (found == voice.speaker_ids.end())
    throw input_error("voice", "There is no speaker of that name in this voice; the default one is \"" +
                                   names_of(voice).front() + "\".");
  return found->second;
}

speech_style style_of(const voice_config& voice, const voice_params& params) {
  return {.speaker = speaker_of(voice, params.speaker),
          .length_scale = voice.length_scale / params.speed,
          .noise_scale = voice.noise_scale,
          .noise_w = voice.noise_w,
          .seed = params.seed};
}

/// A stage of a voice. `Weights` are shared with its runners, so they outlive the model where need be.
template <class Weights>
class voice_stage : public stage_model {
public:
  explicit voice_stage(const opened_voice& opened)
      : weights_(std::make_shared<Weights>(opened.config, opened.graph)), fingerprint_(opened.fingerprint) {}

  [[nodiscard]] std::vector<std::string> speakers() const override { return names_of(weights_->voice); }
  [[nodiscard]] std::uint64_t fingerprint() const override { return fingerprint_; }

protected:
  std::shared_ptr<const Weights> weights_;

private:
  std::uint64_t fingerprint_;
};

class talker_stage final : public voice_stage<talker_weights> {
public:
  talker_stage(const opened_voice& opened, std::int64_t samples_per_frame)
      : voice_stage(opened), samples_per_frame_(samples_per_frame) {}

  [[nodiscard]] std::unique_ptr<runner> make_runner(const runner_options& options, thread_pool& pool) const override {
    runner_info info;
    info.sample_rate = weights_->voice.sample_rate;
    info.rows_per_second = static_cast<double>(info.sample_rate) / static_cast<double>(samples_per_frame_);
    return std::make_unique<stream_runner>(
        info, cpu_device(), pool, options.max_threads, [weights = weights_](const sequence_params& params) {
          return std::make_unique<talker>(weights, style_of(weights->voice, params.voice));
        });
  }
  [[nodiscard]] stage_ports ports() const override { return {payload::kind::text, payload::kind::rows, {}}; }

private:
  std::int64_t samples_per_frame_;
};

class code2wav_stage final : public voice_stage<vocoder_weights> {
public:
  using voice_stage::voice_stage;

  [[nodiscard]] std::unique_ptr<runner> make_runner(const runner_options& options, thread_pool& pool) const override {
    runner_info info;
    info.sample_rate = weights_->voice.sample_rate;
    return std::make_unique<stream_runner>(
        info, cpu_device(), pool, options.max_threads, [weights = weights_](const sequence_params& params) {
          return std::make_unique<code2wav>(weights, speaker_of(weights->voice, params.voice.speaker));
        });
  }
  [[nodiscard]] stage_ports ports() const override {
    return {payload::kind::rows, payload::kind::samples, payload::kind::samples};
  }
};

} // namespace

std::shared_ptr<const stage_model> load_talker(const stage_model_spec& spec) {
  const auto opened = open_voice(spec);
  return std::make_shared<talker_stage>(opened, samples_per_frame(opened.graph));
}

std::shared_ptr<const stage_model> load_code2wav(const stage_model_spec& spec) {
  return std::make_shared<code2wav_stage>(open_voice(spec));
}

stage_cost cost_of_voice(const stage_model_spec& spec, const cost_question&) {
  const auto file = onnx_file::open(spec.model);
  stage_cost made;
  if (spec.stage == "talker") {
    double values = 0;
    for (const auto& name : file->names()) values += static_cast<double>(file->find(name)->values());
    made.parts = {{"both stages of the voice", {values, sizeof(float) * values}}};
    made.notes.emplace_back(
        "Steps of a Piper voice are not modelled: the voice has no KV cache, and its work grows with the "
        "sound that it makes.");
  } else {
    made.notes.emplace_back(
        "Its weights are counted with the talker, which has the same file; steps are not modelled.");
  }
  return made;
}

} // namespace omni::vits
