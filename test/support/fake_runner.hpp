#pragma once

#include "kernels/models/stage_model.hpp"
#include "kernels/text/tokenizer.hpp"

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace omni::test {

/// Ids 0..255 are the bytes, `fake_eos` ends a text and is special.
inline constexpr std::int32_t fake_eos = 256;
inline constexpr std::int32_t fake_vocabulary = 257;
inline constexpr std::int32_t fake_medium = 1; // a byte
const text::tokenizer& fake_tokenizer();
std::vector<std::int32_t> fake_tokens(std::string_view text);

/// One call of a fake runner, for hooks.
struct fake_step {
  std::string stage;       // "thinker", ...
  int runner = 0;          // in the order of their making, over all runners of the model
  std::int64_t number = 0; // of this runner's steps, from 0
  const batch* work = nullptr;
};

/// How the models of a fake pipeline behave. One object is shared by all of them.
struct fake_options {
  std::int32_t block_size = 4;
  std::int32_t blocks = 64;
  std::int32_t max_model_len = 128;
  /// What the thinker says to anything, then it ends; empty: each token follows from all tokens before it.
  std::string answer;
  /// Whether the thinker takes media: in the place of each `fake_medium` come as many as it has samples and frames.
  bool takes_media = false;
  std::int32_t rows_per_character = 2;
  std::int32_t rows_per_step = 8; // at most, for one sequence
  std::int32_t samples_per_row = 4;
  std::int32_t sample_rate = 800; // so a row is 5 ms and a character 10 ms of sound
  /// Called when a runner is made; may throw `load_error` to make it fail.
  std::function<void(const std::string& stage, int runner)> on_make;
  /// Called before each step, on the replica's thread; may throw, or wait.
  std::function<void(const fake_step&)> before_step;
};

/// A model that computes nothing real but keeps its promises: the token that a fake thinker chooses depends on all
/// tokens that lie in the KV blocks of its block table, so a scheduler that mixes up blocks or positions is seen in the
/// text. Speakers of its voice: "ann" (default) and "bob"; any other name is an `input_error`.
std::shared_ptr<const stage_model> fake_stage_model(const std::string& stage, const fake_options& options);

/// For `engine::start`: fakes for the stages "thinker", "talker" and "code2wav".
std::function<std::shared_ptr<const stage_model>(const stage_model_spec&)> fake_loader(fake_options options);

/// What a fake thinker without `answer` says to `prompt`: at most `count` tokens, `fake_eos` included if it ends.
std::vector<std::int32_t> expected_tokens(std::vector<std::int32_t> prompt, std::size_t count,
                                          const sampling_params& sampling);
/// The sound that a fake voice makes of `said`.
std::vector<float> expected_sound(std::string_view said, const fake_options& options);

} // namespace omni::test
