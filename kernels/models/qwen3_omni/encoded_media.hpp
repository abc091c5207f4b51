#pragma once

#include "kernels/models/qwen3_omni/prompt.hpp"
#include "kernels/runtime/prompt_media.hpp"

#include <memory>
#include <vector>

namespace omni::qwen3_omni {

/// Makes the rows of the sounds and pictures of one prompt.
class media_source {
public:
  virtual ~media_source() = default;
  /// Rows [rows, parts, hidden] of one unit of one of the media: the embedding of each, then what it adds to layers.
  [[nodiscard]] virtual std::vector<float> rows(std::size_t item, std::int64_t unit, const op_context& context) = 0;
  /// Lets go of what it may have made on the way.
  virtual void forget() {}
};

/// The sounds and pictures of one prompt, unit by unit: each is encoded when the first of its rows is asked for, so a
/// step encodes what its tokens need.
class encoded_media final : public prompt_media {
public:
  encoded_media(prompt_layout layout, std::vector<media_extent> extents, std::int64_t hidden,
                std::unique_ptr<media_source> source);

  [[nodiscard]] rope_position position(std::int64_t index) const override;
  [[nodiscard]] std::span<const std::int64_t> places() const override { return places_; }
  [[nodiscard]] media_row row(std::size_t place, const op_context& context) override;
  void forget() override;

private:
  prompt_layout layout_;
  std::vector<media_extent> extents_;
  std::int64_t hidden_;
  std::unique_ptr<media_source> source_;
  std::vector<std::int64_t> places_;
  std::vector<std::vector<std::vector<float>>> units_; // [media][unit] rows; empty: not encoded
};

} // namespace omni::qwen3_omni
