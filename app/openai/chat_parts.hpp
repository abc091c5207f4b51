#pragma once

#include "app/openai/chat_request.hpp"

#include <string>
#include <vector>

namespace omni::openai {

// The pieces that all chat answers are made of.

/// The head that all chunks of a streamed answer share, and their choices.
json chunk_of(const chat_request& asked, json choices);

/// OpenAI's `logprobs` of some tokens: {"content": [{token, logprob, bytes, top_logprobs}]}; null if none were asked
/// for.
json logprobs_of(const std::vector<token_choice>& tokens, const chat_request& asked);

/// The ids of some tokens, or null unless `return_token_ids` asked for them.
json token_ids_of(const std::vector<token_choice>& tokens, const chat_request& asked);

/// The stop string, the stop token's id as a number, or null.
json stop_reason_of(const std::string& reason, const chat_request& asked);

/// Tokens of a request: the prompt once, the completions of all choices together.
class usage_count {
public:
  explicit usage_count(const chat_request& asked);
  void on_output(const output& piece);
  /// {"prompt_tokens", "total_tokens", "completion_tokens"} and, if `details`, `prompt_tokens_details`.
  [[nodiscard]] json object(bool details) const;
  /// As `object`, for an event that carries sound: its completion counts nothing.
  [[nodiscard]] json prompt_only() const;

private:
  std::int32_t prompt_;
  std::int32_t cached_ = 0;
  std::vector<std::int32_t> completion_; // per choice
};

/// What a choice with several modalities says at its end: the reason that is not "stop", if any.
finish_reason joint_reason(const std::optional<finish_reason>& text, const std::optional<finish_reason>& audio);

/// {"format", "sample_rate_hz", "frame_count", "channels"} of a WAV file.
json audio_metadata(std::int32_t sample_rate, std::int32_t channels, std::int64_t frames);

/// Seconds for which OpenAI lets an `audio.id` be referred to. We keep no sound, but clients expect the field.
inline constexpr std::int64_t audio_expires_after_s = 24 * 3600;

} // namespace omni::openai
