#include "app/openai/chat_parts.hpp"

#include "kernels/text/tokenizer.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>

namespace omni::openai {
namespace {

json one_logprob(std::int32_t id, float logprob, const text::tokenizer* tokenizer) {
  const std::string_view bytes = tokenizer != nullptr ? tokenizer->token_bytes(id) : std::string_view();
  json out;
  out["token"] = bytes;
  out["logprob"] = std::isfinite(logprob) ? logprob : -9999.0F; // JSON has no infinity; vLLM's stand-in
  json list = json::array();
  for (const char c : bytes) list.push_back(static_cast<unsigned char>(c));
  out["bytes"] = std::move(list);
  return out;
}

} // namespace

json chunk_of(const chat_request& asked, json choices) {
  json event;
  event["id"] = asked.id;
  event["object"] = "chat.completion.chunk";
  event["created"] = asked.created;
  event["model"] = asked.model;
  event["choices"] = std::move(choices);
  return event;
}

json logprobs_of(const std::vector<token_choice>& tokens, const chat_request& asked) {
  if (!asked.work.sampling.logprobs) return nullptr;
  const text::tokenizer* tokenizer = asked.pipeline->tokenizer;
  json content = json::array();
  for (const token_choice& token : tokens) {
    json each = one_logprob(token.id, token.logprob, tokenizer);
    each["top_logprobs"] = json::array();
    const auto wanted = std::size_t(*asked.work.sampling.logprobs);
    for (std::size_t i = 0; i < std::min(token.top.size(), wanted); ++i)
      each["top_logprobs"].push_back(one_logprob(token.top[i].first, token.top[i].second, tokenizer));
    content.push_back(std::move(each));
  }
  json out;
  out["content"] = std::move(content);
  return out;
}

json token_ids_of(const std::vector<token_choice>& tokens, const chat_request& asked) {
  if (!asked.return_token_ids) return nullptr;
  json ids = json::array();
  for (const token_choice& token : tokens) ids.push_back(token.id);
  return ids;
}

json stop_reason_of(const std::string& reason, const chat_request& asked) {
  if (reason.empty()) return nullptr;
  const auto& strings = asked.work.sampling.stop;
  std::int32_t id = 0;
  const auto [end, error] = std::from_chars(reason.data(), reason.data() + reason.size(), id);
  const bool is_id = error == std::errc() && end == reason.data() + reason.size();
  if (is_id && std::find(strings.begin(), strings.end(), reason) == strings.end()) return id;
  return reason;
}

usage_count::usage_count(const chat_request& asked)
    : prompt_(std::int32_t(asked.work.prompt.size())), completion_(std::size_t(asked.work.n)) {}

void usage_count::on_output(const output& piece) {
  cached_ = std::max(cached_, piece.usage.cached_tokens);
  if (std::size_t(piece.choice) >= completion_.size()) return;
  std::int32_t& completion = completion_[std::size_t(piece.choice)];
  completion = std::max(completion, piece.usage.completion_tokens);
}

json usage_count::object(bool details) const {
  const std::int32_t completion = std::accumulate(completion_.begin(), completion_.end(), 0);
  json out;
  out["prompt_tokens"] = prompt_;
  out["total_tokens"] = prompt_ + completion;
  out["completion_tokens"] = completion;
  if (details) out["prompt_tokens_details"]["cached_tokens"] = cached_;
  return out;
}

json usage_count::prompt_only() const {
  json out;
  out["prompt_tokens"] = prompt_;
  out["total_tokens"] = prompt_;
  out["completion_tokens"] = 0;
  return out;
}

finish_reason joint_reason(const std::optional<finish_reason>& text, const std::optional<finish_reason>& audio) {
  for (const auto& reason : {text, audio})
    if (reason && *reason != finish_reason::stop) return *reason;
  return finish_reason::stop;
}

json audio_metadata(std::int32_t sample_rate, std::int32_t channels, std::int64_t frames) {
  json out;
  out["format"] = "wav";
  out["sample_rate_hz"] = sample_rate;
  out["frame_count"] = frames;
  out["channels"] = channels;
  return out;
}

} // namespace omni::openai
