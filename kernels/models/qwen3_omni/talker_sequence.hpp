#pragma once

#include "kernels/models/qwen3_omni/talker_model.hpp"
#include "kernels/models/qwen3_omni/talker_prompt.hpp"
#include "kernels/runtime/batch.hpp"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace omni::qwen3_omni {

/// One request at the talker: what it heard, what it was fed so far, and what it waits for. All rows that were ever fed
/// are kept, so that a sequence which lost its KV blocks can be computed anew.
class talker_sequence {
public:
  /// `sampling` is that of the first code; its seed is set unless it is greedy.
  talker_sequence(const talker_model& model, const sampling_params& sampling, std::int32_t speaker_code);

  /// Takes what arrived: `rows` of media, if any, then the prompt's tokens, then the reply's tokens as the thinker is
  /// fed with them. Returns why it cannot go on; empty if it can.
  [[nodiscard]] std::string hear(const batch_item& item);
  /// Makes the prompt's rows, once, when the first token of the reply is known.
  void make_prompt_rows(const op_context& context);
  /// The token whose text goes with the frame made last, if it is known and was not taken yet.
  [[nodiscard]] std::optional<std::int32_t> text_due() const;
  /// Makes the next row of that frame and of `text` [hidden], the row of its token.
  void take_text(const float* text);

  /// Nothing follows: the reply is spoken, or there is none.
  [[nodiscard]] bool finished() const { return finished_ || (input_ended_ && reply_.empty()); }
  /// Whether a step can do something for it before more input comes.
  [[nodiscard]] bool can_go_on() const {
    return !finished() && (unfed_rows() > 0 || prompt_due() || text_due().has_value());
  }

  [[nodiscard]] std::int64_t unfed_rows() const { return rows_made() - fed_; }
  [[nodiscard]] std::int64_t fed() const { return fed_; }
  [[nodiscard]] std::int64_t rows_made() const { return static_cast<std::int64_t>(positions_.size()); }
  [[nodiscard]] const float* row(std::int64_t index) const;
  [[nodiscard]] rope_position position(std::int64_t index) const { return positions_[static_cast<std::size_t>(index)]; }
  void advance(std::int64_t rows) { fed_ += rows; }
  /// Whether all rows were fed and the code that follows them is to be chosen.
  [[nodiscard]] bool wants_code() const { return !finished_ && !rows_.empty() && unfed_rows() == 0 && frame_.empty(); }
  /// No more fits: it ends with what it said.
  void cut() { finished_ = cut_ = true; }
  /// Whether a limit ended it.
  [[nodiscard]] bool was_cut() const { return cut_; }
  [[nodiscard]] bool has_spoken() const { return frames_ > 0; }
  /// Its KV blocks were taken away.
  void forget_cache() { fed_ = 0; }

  /// Chooses the first code of the next frame from its logits, which are changed; nothing when the reply is over.
  [[nodiscard]] std::optional<std::int32_t> choose_first(float* logits);
  /// Chooses the code of another group of that frame.
  [[nodiscard]] std::int32_t choose_other(std::int64_t group, float* logits) const;
  /// The frame is complete: `embeddings` [hidden] is the sum over its codes.
  void take_frame(const float* embeddings);

  std::vector<std::int32_t> blocks; // KV blocks that it holds; the runner's
  std::int64_t age = 0;             // order of opening; the runner's

private:
  [[nodiscard]] std::string hear_prompt(const payload& input);
  [[nodiscard]] bool prompt_due() const { return rows_.empty() && prompt_.has_value() && !reply_.empty(); }
  void append(const float* row, const rope_position& position);

  const talker_model& model_;
  std::int32_t speaker_code_;
  sampler first_, others_;
  std::int64_t most_frames_; // the code after them is not spoken
  std::vector<float> media_; // [rows, thinker hidden]
  std::vector<rope_position> media_positions_;
  std::optional<talker_prompt> prompt_;
  std::vector<std::int32_t> reply_; // tokens of the reply so far
  bool input_ended_ = false;
  bool finished_ = false;
  bool cut_ = false;

  std::vector<float> rows_; // [rows_made, hidden]
  std::vector<rope_position> positions_;
  std::int64_t fed_ = 0;
  std::int64_t frames_ = 0;  // complete
  std::vector<float> frame_; // [hidden] of the last complete frame, while its text is not known
};

} // namespace omni::qwen3_omni
