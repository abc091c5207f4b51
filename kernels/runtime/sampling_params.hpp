#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace omni {

/// How the next token is chosen and when a sequence ends. Names and meaning follow vLLM's SamplingParams.
/// Ranges are checked where a request enters (`app/openai`, `engine::submit`); here they hold.
struct sampling_params {
  float temperature = 1.0F;        // 0 means greedy; >= 0
  float top_p = 1.0F;              // (0, 1]
  std::int32_t top_k = 0;          // 0 means off
  float min_p = 0.0F;              // [0, 1]
  float repetition_penalty = 1.0F; // > 0
  float presence_penalty = 0.0F;   // [-2, 2]
  float frequency_penalty = 0.0F;  // [-2, 2]
  std::optional<std::uint64_t> seed;
  std::vector<std::pair<std::int32_t, float>> logit_bias; // token id, added to its logit
  std::int32_t max_tokens = -1;    // -1: as many as the context allows
  std::int32_t min_tokens = 0;
  bool ignore_eos = false;
  std::vector<std::int32_t> stop_token_ids;
  std::vector<std::string> stop;   // strings that end the text; never part of it unless include_stop_str_in_output
  bool include_stop_str_in_output = false;
  bool skip_special_tokens = true;
  std::optional<std::int32_t> logprobs; // log-probabilities of the chosen token and of this many best ones (0..20)
};

} // namespace omni
