#pragma once

#include "kernels/runtime/batch.hpp"
#include "messages/errc.hpp"
#include "messages/ids.hpp"
#include "messages/request.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace omni {

/// Why a sequence ended. Texts as in vLLM: "stop", "length", "abort", "error".
enum class finish_reason : std::uint8_t { stop, length, abort, error };
const char* to_string(finish_reason reason);

/// Tokens of one choice so far.
struct token_usage {
  std::int32_t prompt_tokens = 0;
  std::int32_t cached_tokens = 0; // of the prompt, found in the prefix cache
  std::int32_t completion_tokens = 0;
};

/// One piece of a request's answer, from a final stage. Pieces of one (choice, modality) arrive in order;
/// the one with `finish` is its last.
struct output {
  request_id request;
  std::int32_t choice = 0;
  modality kind = modality::text;
  std::string text;                 // text: new text, whole characters, stop strings never half-emitted
  std::vector<token_choice> tokens; // text: the tokens chosen since the last output (log-probabilities if asked for)
  std::shared_ptr<const payload> audio; // audio: new samples, F32 [n, channels] in -1..1
  token_usage usage;                    // of the choice, up to this piece
  std::optional<finish_reason> finish;
  std::string stop_reason; // the stop string or the decimal stop token id that ended it, if one did
};

} // namespace omni
