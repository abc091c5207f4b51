#pragma once

#include "kernels/runtime/batch.hpp"
#include "messages/clock.hpp"
#include "messages/ids.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace omni {

/// What a request wants to hear back.
enum class modality : std::uint8_t { text, audio };

/// One request, as the engine takes it. Tokenised already: the caller's thread does that (see engine::model).
struct request {
  std::string name;                 // the client's name for it ("chatcmpl-..."), for logs; need not be unique
  std::vector<std::int32_t> prompt; // token ids for the first text stage; empty for a speech request
  std::vector<placed_media> media;  // what the prompt lets hear or see (stage_model::place_media), in its order
  std::string text;                 // a speech request: what to say; it enters at the first voice stage
  sampling_params sampling;         // of the text stage
  std::vector<std::optional<sampling_params>> stage_sampling; // of the others, by stage; missing: the stage's own
  std::int32_t n = 1; // independent samples of the text; 1 if audio is wanted
  bool want_text = true;
  bool want_audio = false;
  voice_params voice;
  std::string prompt_param = "messages"; // the field that held the prompt, for error messages
  std::optional<time_us> received;       // when it came in, before it was read; none: when it is handed in
};

} // namespace omni
