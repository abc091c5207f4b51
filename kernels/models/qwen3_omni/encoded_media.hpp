#pragma once

#include "kernels/models/qwen3_omni/prompt.hpp"
#include "kernels/runtime/prompt_media.hpp"

#include <functional>
#include <vector>

namespace omni::qwen3_omni {

/// The sounds and pictures of one prompt, each encoded when the first of its rows is asked for.
class encoded_media final : public prompt_media {
public:
  /// Makes the rows [rows, parts, hidden] of one of the media: the embedding of each, then what it adds to layers.
  using encode_function = std::function<std::vector<float>(std::size_t item, const op_context&)>;

  encoded_media(prompt_layout layout, std::vector<media_extent> extents, std::int64_t hidden, encode_function encode);

  [[nodiscard]] rope_position position(std::int64_t index) const override;
  [[nodiscard]] std::span<const std::int64_t> places() const override { return places_; }
  [[nodiscard]] media_row row(std::size_t place, const op_context& context) override;
  void forget() override;

private:
  prompt_layout layout_;
  std::vector<media_extent> extents_;
  std::int64_t hidden_;
  encode_function encode_;
  std::vector<std::int64_t> places_;
  std::vector<std::vector<float>> rows_; // of each of the media; empty: not encoded
};

} // namespace omni::qwen3_omni
