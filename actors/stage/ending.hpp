#pragma once

#include "kernels/runtime/sampling_params.hpp"
#include "messages/output.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace omni {

/// Why and by what a sequence of tokens ended.
struct ending {
  finish_reason reason = finish_reason::stop;
  std::string stop_reason; // the stop string or the decimal stop token id
  bool by_token = false;   // the last token ended it, so it is not part of the text
};

/// Whether a sequence is over after its latest token; stop strings are the text stream's business. Rules of vLLM: no
/// end-of-text and no stop token counts before `min_tokens`; the limits always do.
/// `generated` counts `token`; `length` is prompt and generated together.
std::optional<ending> ending_after(std::int32_t token, const sampling_params& sampling,
                                   std::span<const std::int32_t> eos_ids, std::int64_t generated, std::int64_t length,
                                   std::int64_t max_model_len);

} // namespace omni
