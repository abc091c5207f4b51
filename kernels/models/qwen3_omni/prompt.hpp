#pragma once

#include "kernels/layers/rope_angles.hpp"
#include "kernels/models/qwen3_omni/image_patches.hpp"
#include "kernels/runtime/media.hpp"

#include <memory>
#include <span>
#include <vector>

namespace omni::qwen3_omni {

/// What one sound or picture takes of a prompt.
struct media_extent {
  media_input::kind what = media_input::kind::audio;
  std::int64_t rows = 0;
  patch_grid grid;               // of patches; not of sounds
  double seconds_per_grid = 0.0; // of a video: time between two instants of the grid
  std::int64_t unit_rows = 0;    // rows that see each other, so they are encoded together; the last unit may have fewer
};

/// Throws `input_error` for what the model cannot take: an empty sound, a picture 200 times as long as wide.
media_extent extent_of(const media_input& media, const model_config& config);

/// A prompt with one token in the place of each sound or picture, with as many as it has rows. Throws `input_error`
/// when there are not as many places of each kind as media, in the same order.
struct expanded_prompt {
  std::vector<std::int32_t> tokens;
  std::vector<std::int64_t> begins; // of each of the media
};
expanded_prompt expanded(std::span<const std::int32_t> prompt, std::span<const media_extent> media,
                         const token_ids& tokens);

/// A row of media in a prompt: which of the media, and which of its rows.
struct media_place {
  std::int64_t index = 0; // of the token
  std::int64_t item = 0;
  std::int64_t row = 0;
};

/// Where the tokens of an expanded prompt stand. Text goes on by one. A run of media starts where the text would go on:
/// sounds go on by one, a picture spans height and width, a video's instants are apart as far as they are in time; what
/// follows stands one beyond the farthest. A sound and the video that it belongs to may be interleaved in one run.
struct prompt_layout {
  std::vector<rope_position> positions; // of the prompt
  float next_position = 0.0F;           // of the first token after it
  std::vector<media_place> places;
};

/// Throws `input_error` when places and media do not fit each other.
prompt_layout layout_of(std::span<const std::int32_t> prompt, std::span<const media_extent> media,
                        const model_config& config);

} // namespace omni::qwen3_omni
