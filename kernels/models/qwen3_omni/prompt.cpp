#include "kernels/models/qwen3_omni/prompt.hpp"

#include "kernels/audio/mel.hpp"
#include "kernels/core/error.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace omni::qwen3_omni {
namespace {

using kind = media_input::kind;
constexpr std::array kinds{kind::audio, kind::image, kind::video};

const char* name_of(kind what) { return what == kind::audio ? "sound" : what == kind::image ? "picture" : "video"; }

std::int32_t pad_of(kind what, const token_ids& tokens) {
  return what == kind::audio ? tokens.audio_pad : what == kind::image ? tokens.image_pad : tokens.video_pad;
}

[[noreturn]] void refuse(const std::string& sentence) { throw input_error("messages", sentence); }

[[noreturn]] void refuse_places(kind what) {
  refuse("The prompt does not have one place for each " + std::string(name_of(what)) +
         " that came with it: leave the model's special tokens out of messages and use its chat template.");
}

/// Gives out the media of a prompt in their order, row by row, each kind by itself.
class media_queue {
public:
  media_queue(std::span<const media_extent> media, const token_ids& tokens) : media_(media), tokens_(tokens) {}

  struct row {
    std::int64_t item, row;
  };
  /// The next row for that placeholder.
  row next(std::int32_t pad) {
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      if (pad_of(kinds[k], tokens_) != pad) continue;
      auto& at = at_[k];
      while (at.item < count() && (media_[index(at.item)].what != kinds[k] || at.row == media_[index(at.item)].rows))
        at = {at.item + 1, 0};
      if (at.item == count()) refuse_places(kinds[k]);
      return {at.item, at.row++};
    }
    return {-1, 0};
  }
  /// Refuses if any row was not asked for.
  void expect_all_taken() {
    for (std::size_t k = 0; k < kinds.size(); ++k)
      for (std::int64_t i = at_[k].item; i < count(); ++i)
        if (media_[index(i)].what == kinds[k] && (i != at_[k].item || at_[k].row < media_[index(i)].rows))
          refuse_places(kinds[k]);
  }

private:
  [[nodiscard]] std::int64_t count() const { return static_cast<std::int64_t>(media_.size()); }
  static std::size_t index(std::int64_t i) { return static_cast<std::size_t>(i); }

  std::span<const media_extent> media_;
  const token_ids& tokens_;
  std::array<row, kinds.size()> at_{};
};

/// Where row `row` stands in a run that starts at `start`; `heard` counts the rows of sound before it in the run.
rope_position position_in_run(const media_extent& media, std::int64_t row, float start, std::int64_t heard,
                              const model_config& config) {
  if (media.what == kind::audio) {
    const float at = start + static_cast<float>(heard);
    return {at, at, at};
  }
  const std::int64_t merge = config.vision.merge, width = media.grid.width / merge, height = media.grid.height / merge;
  const std::int64_t instant = row / (height * width), y = row / width % height, x = row % width;
  const float time = static_cast<float>(instant) * static_cast<float>(media.seconds_per_grid) *
                     static_cast<float>(config.positions_per_second);
  return {start + time, start + static_cast<float>(y), start + static_cast<float>(x)};
}

} // namespace

media_extent extent_of(const media_input& media, const model_config& config) {
  if (media.what == kind::audio) {
    if (media.samples.empty()) refuse("A sound of this conversation is empty: leave it out.");
    const auto frames = audio::mel_features::frames_of(static_cast<std::int64_t>(media.samples.size()));
    return {kind::audio, config.audio.rows_of(frames), {}, 0.0, config.audio.rows_of(config.audio.window_frames())};
  }
  const auto bytes = static_cast<std::size_t>(3 * media.frames * media.height * media.width);
  if (media.frames < 1 || media.height < 1 || media.width < 1 || media.rgb.size() != bytes)
    refuse("A " + std::string(name_of(media.what)) + " of this conversation has no pixels: leave it out.");
  const auto grid = grid_of(media.frames, {media.height, media.width}, config.vision);
  if (!grid)
    refuse("A " + std::string(name_of(media.what)) + " of this conversation is " + std::to_string(media.width) +
           " by " + std::to_string(media.height) +
           " pixels, but one side may be at most 200 times the other: crop it.");
  const std::int64_t rows = grid->patches() / config.vision.rows_per_patches();
  if (media.what == kind::image) return {kind::image, rows, *grid, 0.0, rows};
  if (!(media.frames_per_second > 0.0) || !std::isfinite(media.frames_per_second))
    refuse("A video of this conversation has no frames per second: give a positive number.");
  return {kind::video, rows, *grid, static_cast<double>(config.vision.temporal_patch) / media.frames_per_second,
          rows / grid->time};
}

expanded_prompt expanded(std::span<const std::int32_t> prompt, std::span<const media_extent> media,
                         const token_ids& tokens) {
  expanded_prompt made;
  for (const auto id : prompt) {
    if (!tokens.is_media(id)) {
      made.tokens.push_back(id);
      continue;
    }
    const auto next = made.begins.size();
    for (const auto what : kinds)
      if (id == pad_of(what, tokens) && (next == media.size() || media[next].what != what)) refuse_places(what);
    made.begins.push_back(static_cast<std::int64_t>(made.tokens.size()));
    made.tokens.insert(made.tokens.end(), static_cast<std::size_t>(media[next].rows), id);
  }
  if (made.begins.size() < media.size()) refuse_places(media[made.begins.size()].what);
  return made;
}

prompt_layout layout_of(std::span<const std::int32_t> prompt, std::span<const media_extent> media,
                        const model_config& config) {
  prompt_layout made;
  media_queue queue(media, config.tokens);
  float next = 0.0F, farthest = 0.0F;
  std::int64_t heard = 0; // rows of sound in the current run
  bool in_run = false;
  for (std::size_t i = 0; i < prompt.size(); ++i) {
    if (!config.tokens.is_media(prompt[i])) {
      if (in_run) next = farthest + 1.0F;
      in_run = false;
      made.positions.emplace_back(next, next, next);
      next += 1.0F;
      continue;
    }
    if (!in_run) farthest = next, heard = 0;
    in_run = true;
    const auto [item, row] = queue.next(prompt[i]);
    made.places.push_back({static_cast<std::int64_t>(i), item, row});
    const auto& extent = media[static_cast<std::size_t>(item)];
    const rope_position p = position_in_run(extent, row, next, heard, config);
    heard += extent.what == kind::audio ? 1 : 0;
    made.positions.push_back(p);
    farthest = std::max({farthest, p.time, p.height, p.width});
  }
  queue.expect_all_taken();
  made.next_position = in_run ? farthest + 1.0F : next;
  return made;
}

} // namespace omni::qwen3_omni
