#include "kernels/models/qwen3_omni/thinker.hpp"

#include "kernels/models/qwen3_omni/audio_encoder.hpp"
#include "kernels/models/qwen3_omni/encoded_media.hpp"
#include "kernels/models/qwen3_omni/vision_encoder.hpp"
#include "kernels/runtime/ar_runner.hpp"
#include "kernels/weights/safetensors_file.hpp"

namespace omni::qwen3_omni {
namespace {

/// The encoders, and what they are configured by.
struct encoders {
  encoders(const model_config& model, const checkpoint& file, bool as_f32)
      : config(model), sounds(config.audio, file, as_f32), pictures(config.vision, file, as_f32) {}
  model_config config;
  audio_encoder sounds;
  vision_encoder pictures;
};

std::vector<media_extent> extents_of(std::span<const std::shared_ptr<const media_input>> media,
                                     const model_config& config) {
  std::vector<media_extent> extents;
  for (const auto& one : media) extents.push_back(extent_of(*one, config));
  return extents;
}

std::vector<float> encode(const encoders& by, const media_input& media, const media_extent& extent,
                          const op_context& context) {
  if (media.what == media_input::kind::audio) return by.sounds.encode(media.samples, context);
  const auto patches = patches_of(media.rgb, media.frames, {media.height, media.width}, by.config.vision);
  return by.pictures.encode(patches, extent.grid, nullptr, context);
}

class thinker_reader final : public media_reader {
public:
  explicit thinker_reader(std::shared_ptr<const encoders> from) : from_(std::move(from)) {}
  [[nodiscard]] std::unique_ptr<prompt_media> read(const sequence_params& params) const override {
    auto extents = extents_of(params.media, from_->config);
    auto layout = layout_of(params.prompt, extents, from_->config);
    if (layout.places.empty()) return nullptr;
    const auto from = [by = from_, media = params.media, extents](std::size_t item, const op_context& context) {
      return encode(*by, *media[item], extents[item], context);
    };
    return std::make_unique<encoded_media>(std::move(layout), std::move(extents), from_->config.thinker.hidden, from);
  }

private:
  std::shared_ptr<const encoders> from_;
};

class thinker_stage final : public stage_model {
public:
  thinker_stage(std::shared_ptr<const decoder_model> text, std::shared_ptr<const encoders> media)
      : text_(std::move(text)), media_(std::move(media)), reader_(std::make_shared<thinker_reader>(media_)) {}

  [[nodiscard]] std::unique_ptr<runner> make_runner(const runner_options& options, thread_pool& pool) const override {
    return std::make_unique<ar_runner>(text_, options, pool, reader_);
  }
  [[nodiscard]] stage_ports ports() const override {
    const bool speaks = media_->config.talker.has_value();
    return {payload::kind::tokens, speaks ? payload::kind::tokens : payload::kind::text, payload::kind::text};
  }
  [[nodiscard]] const text::tokenizer* tokenizer() const override { return text_->tokenizer(); }
  [[nodiscard]] const text::chat_template* chat_template() const override { return text_->chat_template(); }
  [[nodiscard]] std::vector<std::int32_t>
  place_media(std::vector<std::int32_t> prompt,
              std::span<const std::shared_ptr<const media_input>> media) const override {
    return expanded(prompt, extents_of(media, media_->config), media_->config.tokens);
  }
  [[nodiscard]] std::uint64_t fingerprint() const override { return text_->fingerprint(); }

private:
  std::shared_ptr<const decoder_model> text_;
  std::shared_ptr<const encoders> media_;
  std::shared_ptr<const thinker_reader> reader_;
};

} // namespace

std::shared_ptr<const decoder_model> load_thinker_decoder(const std::filesystem::path& folder,
                                                          const model_config& config,
                                                          std::shared_ptr<const checkpoint> file, bool as_f32) {
  return decoder_model::load(
      decoder_source{std::move(file), {"thinker.model", "thinker.lm_head"}, config.thinker, load_decoder_text(folder)},
      as_f32);
}

std::shared_ptr<const stage_model> load_thinker(const stage_model_spec& spec) {
  const bool as_f32 = wants_f32(spec);
  const auto config = load_config(spec.model);
  const auto file = safetensors_file::open(spec.model);
  return std::make_shared<thinker_stage>(load_thinker_decoder(spec.model, config, file, as_f32),
                                         std::make_shared<encoders>(config, *file, as_f32));
}

} // namespace omni::qwen3_omni
