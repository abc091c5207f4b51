#pragma once

#include "kernels/layers/rope_angles.hpp"
#include "kernels/models/qwen3_omni/model_config.hpp"

#include <span>
#include <string>
#include <vector>

namespace omni::qwen3_omni {

/// Width of the rows that the thinker hands on for media: where the row stands in the prompt (time, height, width), and
/// its residual stream after the accepted layer.
constexpr std::int64_t handed_width(std::int64_t hidden) { return 3 + hidden; }

/// One row of what the talker hears of the user before it speaks.
struct heard_row {
  std::int32_t text = -1;   // id of the thinker's vocabulary
  std::int64_t media = -1;  // or row of media, counted over the whole prompt
  rope_position position{}; // restarts at 0 for the talker
};

/// What the talker's first step is made of, besides the special rows before its first frame.
struct talker_prompt {
  std::vector<heard_row> heard;      // all user turns, in order
  std::vector<std::int32_t> opening; // the 3 tokens that open the reply's turn
  std::vector<std::int32_t> reply;   // tokens of the prompt that are part of the reply already
  float next_position = 0.0F;        // of the row after `heard`; a video may leave a fraction
  std::string problem;               // not empty: this prompt cannot be answered by voice, a sentence saying why
};

/// Splits the thinker's prompt into turns. `media_positions`: of each row of media, in the thinker's prompt.
talker_prompt read_talker_prompt(std::span<const std::int32_t> prompt, std::span<const rope_position> media_positions,
                                 const token_ids& tokens);

} // namespace omni::qwen3_omni
