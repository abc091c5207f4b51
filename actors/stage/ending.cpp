#include "actors/stage/ending.hpp"

#include <algorithm>

namespace omni {

std::optional<ending> ending_after(std::int32_t token, const sampling_params& sampling,
                                   std::span<const std::int32_t> eos_ids, std::int64_t generated, std::int64_t length,
                                   std::int64_t max_model_len) {
  if (generated >= sampling.min_tokens) {
    if (!sampling.ignore_eos && std::ranges::find(eos_ids, token) != eos_ids.end())
      return ending{finish_reason::stop, {}, true};
    if (std::ranges::find(sampling.stop_token_ids, token) != sampling.stop_token_ids.end())
      return ending{finish_reason::stop, std::to_string(token), true};
  }
  if (length >= max_model_len || (sampling.max_tokens >= 0 && generated >= sampling.max_tokens))
    return ending{finish_reason::length, {}, false};
  return std::nullopt;
}

} // namespace omni
