#include "kernels/models/qwen3_omni/thinker.hpp"

#include "kernels/models/decoder/chat_ml.hpp"
#include "kernels/models/decoder/stand_in_text.hpp"
#include "kernels/models/qwen3_omni/audio_encoder.hpp"
#include "kernels/models/qwen3_omni/encoded_media.hpp"
#include "kernels/models/qwen3_omni/vision_encoder.hpp"
#include "kernels/runtime/ar_runner.hpp"

#include <algorithm>

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

/// The sounds and pictures of one request.
class request_media final : public media_source {
public:
  request_media(std::shared_ptr<const encoders> by, std::vector<std::shared_ptr<const media_input>> media)
      : by_(std::move(by)), media_(std::move(media)), features_(media_.size()) {}

  [[nodiscard]] std::vector<float> rows(std::size_t item, std::int64_t unit, const op_context& context) override {
    return media_[item]->what == media_input::kind::audio ? heard(item, unit, context) : seen(item, unit, context);
  }
  void forget() override {
    for (auto& features : features_) std::vector<float>().swap(features);
  }

private:
  /// A window of a sound. Its features depend on the whole of it.
  std::vector<float> heard(std::size_t item, std::int64_t window, const op_context& context) {
    const auto& c = by_->config.audio;
    auto& features = features_[item];
    if (features.empty()) features = by_->sounds.features(media_[item]->samples);
    const auto size = static_cast<std::size_t>(c.window_frames() * c.mels),
               first = static_cast<std::size_t>(window) * size;
    const bool whole_chunk = features.size() >= static_cast<std::size_t>(c.chunk_frames * c.mels);
    const auto part = std::span(features).subspan(first, std::min(size, features.size() - first));
    return by_->sounds.encode(part, whole_chunk, nullptr, context);
  }
  /// A picture, or one instant of a video.
  std::vector<float> seen(std::size_t item, std::int64_t instant, const op_context& context) {
    const auto& m = *media_[item];
    const auto& c = by_->config.vision;
    const std::int64_t first = instant * c.temporal_patch, frames = std::min(c.temporal_patch, m.frames - first);
    const auto frame_bytes = static_cast<std::size_t>(m.height * m.width * 3);
    const auto rgb = std::span(m.rgb).subspan(static_cast<std::size_t>(first) * frame_bytes,
                                              static_cast<std::size_t>(frames) * frame_bytes);
    const pixel_size size{m.height, m.width};
    return by_->pictures.encode(patches_of(rgb, frames, size, c), *grid_of(frames, size, c), nullptr, context);
  }

  std::shared_ptr<const encoders> by_;
  std::vector<std::shared_ptr<const media_input>> media_;
  std::vector<std::vector<float>> features_; // of each sound; empty: not made
};

class thinker_reader final : public media_reader {
public:
  explicit thinker_reader(std::shared_ptr<const encoders> from) : from_(std::move(from)) {}
  [[nodiscard]] std::unique_ptr<prompt_media> read(const sequence_params& params) const override {
    auto extents = extents_of(params.media, from_->config);
    auto layout = layout_of(params.prompt, extents, from_->config);
    if (layout.places.empty()) return nullptr;
    return std::make_unique<encoded_media>(std::move(layout), std::move(extents), from_->config.thinker.hidden,
                                           std::make_unique<request_media>(from_, params.media));
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
  [[nodiscard]] bool takes_media() const override { return true; }
  void check_media(const media_input& medium) const override { (void)extent_of(medium, media_->config); }
  [[nodiscard]] placed_prompt place_media(std::vector<std::int32_t> prompt,
                                          std::vector<std::shared_ptr<const media_input>> media) const override {
    auto made = expanded(prompt, extents_of(media, media_->config), media_->config.tokens);
    placed_prompt placed{std::move(made.tokens), {}};
    for (std::size_t i = 0; i < media.size(); ++i) placed.media.push_back({std::move(media[i]), made.begins[i]});
    return placed;
  }
  [[nodiscard]] std::uint64_t fingerprint() const override { return text_->fingerprint(); }

private:
  std::shared_ptr<const decoder_model> text_;
  std::shared_ptr<const encoders> media_;
  std::shared_ptr<const thinker_reader> reader_;
};

decoder_text read_text(const stage_model_spec& spec, const model_config& config) {
  if (!wants_dummy(spec) || std::filesystem::exists(spec.model / "tokenizer.json"))
    return load_decoder_text(spec.model);
  const token_ids& t = config.tokens;
  stand_in_tokens wanted{config.thinker.vocab,
                         {{"<|im_start|>", t.im_start},
                          {"<|im_end|>", config.thinker.eos_ids.front()},
                          {"<|audio_start|>", {}},
                          {"<|audio_pad|>", t.audio_pad},
                          {"<|audio_end|>", {}},
                          {"<|vision_start|>", {}},
                          {"<|image_pad|>", t.image_pad},
                          {"<|video_pad|>", t.video_pad},
                          {"<|vision_end|>", {}},
                          {"<tts_pad>", t.tts_pad},
                          {"<tts_text_bos>", t.tts_bos},
                          {"<tts_text_eod>", t.tts_eos}},
                         {{"system", t.system}, {"user", t.user}, {"assistant", t.assistant}}};
  return stand_in_text(std::move(wanted), config.where);
}

std::shared_ptr<const decoder_model> load_decoder(const model_config& config, decoder_text read,
                                                  std::shared_ptr<const checkpoint> file, bool as_f32) {
  if (read.chat == nullptr)
    read.chat = std::make_unique<text::chat_template>(text::chat_template::parse(chat_ml, "the ChatML template"));
  return decoder_model::load(
      decoder_source{std::move(file), {"thinker.model", "thinker.lm_head"}, config.thinker, std::move(read)}, as_f32);
}

} // namespace

std::shared_ptr<const decoder_model> load_thinker_decoder(const std::filesystem::path& folder,
                                                          const model_config& config,
                                                          std::shared_ptr<const checkpoint> file, bool as_f32) {
  return load_decoder(config, load_decoder_text(folder), std::move(file), as_f32);
}

std::shared_ptr<const stage_model> load_thinker(const stage_model_spec& spec) {
  const bool as_f32 = wants_f32(spec);
  const auto config = load_config(spec.model, wants_dummy(spec));
  const auto file = open_weights(spec);
  return std::make_shared<thinker_stage>(load_decoder(config, read_text(spec, config), file, as_f32),
                                         std::make_shared<encoders>(config, *file, as_f32));
}

} // namespace omni::qwen3_omni
