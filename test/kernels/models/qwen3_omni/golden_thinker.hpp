#pragma once

#include "kernels/models/qwen3_omni/audio_encoder.hpp"
#include "kernels/models/qwen3_omni/encoded_media.hpp"
#include "kernels/models/qwen3_omni/thinker.hpp"
#include "kernels/models/qwen3_omni/vision_encoder.hpp"
#include "kernels/runtime/ar_runner.hpp"
#include "test/kernels/models/qwen3_omni/omni_case.hpp"
#include "test/kernels/models/qwen3_omni/raw_media.hpp"

#include <map>
#include <memory>

namespace omni::qwen3_omni {

using ids = std::vector<std::int32_t>;

/// The thinker, its pictures coming from a case's pixel values: they are no bytes, so no picture has them.
class golden_thinker final : public stage_model,
                             public media_reader,
                             public std::enable_shared_from_this<golden_thinker> {
public:
  golden_thinker(const std::string& model, const std::string& dtype_name, const std::vector<golden_case>& cases)
      : opened_(open_model(model)), as_f32_(dtype_name == "float32"),
        text_(load_thinker_decoder(checkpoint_folder(model), opened_.config, opened_.file, as_f32_)),
        sounds_(opened_.config.audio, *opened_.file, as_f32_),
        pictures_(opened_.config.vision, *opened_.file, as_f32_) {
    opened_.config.vision.min_pixels = 1; // some are smaller than resized pictures
    for (const auto& golden : cases) cases_.emplace(golden.i32("input_ids"), golden);
  }

  [[nodiscard]] std::unique_ptr<runner> make_runner(const runner_options& options, thread_pool& pool) const override {
    return std::make_unique<ar_runner>(text_, options, pool, shared_from_this());
  }
  [[nodiscard]] stage_ports ports() const override {
    return {payload::kind::tokens, payload::kind::tokens, payload::kind::text};
  }
  [[nodiscard]] const text::tokenizer* tokenizer() const override { return text_->tokenizer(); }
  [[nodiscard]] std::uint64_t fingerprint() const override { return text_->fingerprint(); }
  [[nodiscard]] placed_prompt place_media(ids prompt,
                                          std::vector<std::shared_ptr<const media_input>> media) const override {
    std::vector<media_extent> extents;
    for (const auto& one : media) extents.push_back(extent_of(*one, opened_.config));
    auto made = expanded(prompt, extents, opened_.config.tokens);
    placed_prompt placed{std::move(made.tokens), {}};
    for (std::size_t i = 0; i < media.size(); ++i) placed.media.push_back({media[i], made.begins[i]});
    return placed;
  }

  [[nodiscard]] std::unique_ptr<prompt_media> read(const sequence_params& params) const override {
    std::vector<media_extent> extents;
    for (const auto& media : params.media) extents.push_back(extent_of(*media, opened_.config));
    auto layout = layout_of(params.prompt, extents, opened_.config);
    if (layout.places.empty()) return nullptr;
    auto from = std::make_unique<golden_media>(*this, params.media, extents, cases_.at(params.prompt));
    return std::make_unique<encoded_media>(std::move(layout), std::move(extents), opened_.config.thinker.hidden,
                                           std::move(from));
  }

private:
  /// The units of media of a case, cut out of each as a whole.
  class golden_media final : public media_source {
  public:
    golden_media(const golden_thinker& by, media_list media, std::vector<media_extent> extents,
                 const golden_case& golden)
        : by_(by), media_(std::move(media)), extents_(std::move(extents)), golden_(golden) {}
    [[nodiscard]] floats rows(std::size_t item, std::int64_t unit, const op_context& context) override {
      const auto whole = all_rows(item, context);
      const auto& e = extents_[item];
      const std::int64_t width = static_cast<std::int64_t>(whole.size()) / e.rows, first = unit * e.unit_rows;
      return {whole.begin() + first * width, whole.begin() + std::min(first + e.unit_rows, e.rows) * width};
    }

  private:
    floats all_rows(std::size_t item, const op_context& context) {
      if (extents_[item].what == media_input::kind::audio)
        return by_.sounds_.encode(by_.sounds_.features(media_[item]->samples), true, nullptr, context);
      const bool video = extents_[item].what == media_input::kind::video;
      const auto pixels = golden_.f32(video ? "pixel_values_videos" : "pixel_values");
      const auto values = [&](std::size_t i) {
        return static_cast<std::size_t>(extents_[i].grid.patches() * by_.opened_.config.vision.patch_values());
      };
      std::size_t at = 0;
      for (std::size_t i = 0; i < item; ++i)
        if (extents_[i].what == extents_[item].what) at += values(i);
      return by_.pictures_.encode(std::span(pixels).subspan(at, values(item)), extents_[item].grid, nullptr, context);
    }

    const golden_thinker& by_;
    media_list media_;
    std::vector<media_extent> extents_;
    const golden_case& golden_;
  };

  opened_model opened_;
  bool as_f32_;
  std::shared_ptr<const decoder_model> text_;
  audio_encoder sounds_;
  vision_encoder pictures_;
  std::map<ids, golden_case> cases_;
};

inline std::vector<golden_case> cases_of(bool bf16) {
  std::vector<golden_case> cases;
  for (auto& golden : test::golden_cases("qwen3_omni", "e2e_"))
    if (golden.name().starts_with("e2e_bf16") == bf16) cases.push_back(golden);
  return cases;
}
} // namespace omni::qwen3_omni
