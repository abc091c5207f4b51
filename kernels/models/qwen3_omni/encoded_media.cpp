#include "kernels/models/qwen3_omni/encoded_media.hpp"

#include <algorithm>

namespace omni::qwen3_omni {

encoded_media::encoded_media(prompt_layout layout, std::vector<media_extent> extents, std::int64_t hidden,
                             std::unique_ptr<media_source> source)
    : layout_(std::move(layout)), extents_(std::move(extents)), hidden_(hidden), source_(std::move(source)) {
  for (const auto& place : layout_.places) places_.push_back(place.index);
  for (const auto& e : extents_)
    units_.emplace_back(static_cast<std::size_t>((e.rows + e.unit_rows - 1) / e.unit_rows));
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
  const auto& extent = extents_[item];
  const std::int64_t unit = where.row / extent.unit_rows;
  auto& rows = units_[item][static_cast<std::size_t>(unit)];
  if (rows.empty()) rows = source_->rows(item, unit, context);
  const std::int64_t count = std::min(extent.unit_rows, extent.rows - unit * extent.unit_rows);
  const std::int64_t width = static_cast<std::int64_t>(rows.size()) / count;
  return {0, rows.data() + where.row % extent.unit_rows * width, static_cast<std::int32_t>(width / hidden_ - 1)};
}

void encoded_media::forget() {
  for (auto& units : units_)
    for (auto& rows : units) std::vector<float>().swap(rows);
  source_->forget();
}

} // namespace omni::qwen3_omni
