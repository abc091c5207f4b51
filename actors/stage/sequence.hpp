#pragma once

#include "actors/stage/block_manager.hpp"
#include "actors/stage/text_stream.hpp"
#include "kernels/runtime/batch.hpp"
#include "messages/clock.hpp"
#include "messages/stage_task.hpp"
#include "metrics/request_timing.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace omni {

struct sequence_group;

/// One choice of a request in an autoregressive stage.
struct sequence {
  sequence(sequence_group& owner, std::int32_t choice, const text::tokenizer* tokenizer, time_us now);

  [[nodiscard]] std::size_t generated() const { return tokens.size() - prompt; }
  /// Tokens whose keys and values are not in the cache yet; at 1 the sequence is decoding.
  [[nodiscard]] std::size_t uncomputed() const { return tokens.size() - computed; }
  [[nodiscard]] const sampling_params& sampling() const;

  sequence_group& group;
  std::int32_t choice;
  std::int64_t age = 0; // rises with arrival; the youngest is preempted first
  sequence_slot slot = 0;

  std::vector<std::int32_t> tokens; // the prompt, then what was generated
  std::size_t prompt;               // tokens of the prompt
  std::size_t computed = 0;         // leading tokens whose keys and values are in `held`
  std::size_t cached = 0;           // tokens of the prompt that were found in the cache
  block_manager::holding held;
  bool admitted = false; // at least once: what it finds in the cache from then on is no hit
  bool finished = false;

  text_stream text;
  std::vector<token_choice> unsent; // chosen since the last output

  request_timing timing;
  time_us queued;
  time_us first_token = 0;
};

/// A request in an autoregressive stage: its choices share a prompt.
struct sequence_group {
  stage_task task;
  std::vector<std::unique_ptr<sequence>> choices;
  std::int32_t open = 0; // choices that have not ended
  sample_group facts;
  time_us opened;
  finish_reason finish = finish_reason::stop; // of the first choice
  std::vector<content_mark> marks;            // the media of the prompt

  sequence_group(stage_task what, time_us now);
};

} // namespace omni
