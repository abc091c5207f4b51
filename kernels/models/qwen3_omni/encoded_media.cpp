#include "kernels/models/qwen3_omni/encoded_media.hpp"

namespace omni::qwen3_omni {

encoded_media::encoded_media(prompt_layout layout, std::vector<media_extent> extents, std::int64_t hidden,
                             encode_function encode)
    : layout_(std::move(layout)), extents_(std::move(extents)), hidden_(hidden), encode_(std::move(encode)),
      rows_(extents_.size()) {
  for (const auto& place : layout_.places) places_.push_back(place.index);
}

rope_position encoded_media::position(std::int64_t index) const {
  const auto prompt = static_cast<std::int64_t>(layout_.positions.size());
  if (index < prompt) return layout_.positions[static_cast<std::size_t>(index)];
  const float at = layout_.next_position + static_cast<float>(index - prompt);
  return {at, at, at};
}

media_row encoded_media::row(std::size_t place, const op_context& context) {
  const auto& where = layout_.places[place];
  const auto item = static_cast<std::size_t>(where.item);
  auto& rows = rows_[item];
  if (rows.empty()) rows = encode_(item, context);
  const std::int64_t width = static_cast<std::int64_t>(rows.size()) / extents_[item].rows;
  return {0, rows.data() + where.row * width, static_cast<std::int32_t>(width / hidden_ - 1)};
}

void encoded_media::forget() {
  for (auto& rows : rows_) std::vector<float>().swap(rows);
}

} // namespace omni::qwen3_omni
