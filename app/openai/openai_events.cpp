#include "app/openai/openai_events.hpp"

#include "app/media/base64.hpp"
#include "app/openai/errors.hpp"
#include "app/openai/sse.hpp"

#include <nlohmann/json.hpp>

namespace omni::openai {

openai_events::openai_events(std::shared_ptr<const chat_request> asked)
    : asked_(std::move(asked)), track_(asked_->format), usage_(*asked_) {}

http::response openai_events::head() const { return event_stream_head(); }

json openai_events::audio_delta() {
  json audio = json::object();
  if (!std::exchange(id_sent_, true)) audio["id"] = asked_->audio_id;
  return audio;
}

void openai_events::append_chunk(json delta, json logprobs, json reason, json usage, std::string& out) const {
  json choice;
  choice["index"] = 0;
  choice["delta"] = std::move(delta);
  choice["logprobs"] = std::move(logprobs);
  choice["finish_reason"] = std::move(reason);
  json event = chunk_of(*asked_, json::array({std::move(choice)}));
  if (asked_->continuous_usage) event["usage"] = std::move(usage);
  append_event(event, out);
}

void openai_events::append_delta(json delta, json logprobs, std::string& out) {
  if (!std::exchange(begun_, true))
    append_chunk({{"role", "assistant"}, {"content", ""}}, nullptr, nullptr, usage_.prompt_only(), out);
  json reason = delta.empty() ? json(to_string(joint_reason(text_reason_, audio_reason_))) : json();
  append_chunk(std::move(delta), std::move(logprobs), std::move(reason), usage_.object(false), out);
}

void openai_events::on_output(const output& piece, std::int64_t /*now_us*/, std::string& out) {
  if (piece.choice != 0) return;
  usage_.on_output(piece);
  if (piece.finish) (piece.kind == modality::text ? text_reason_ : audio_reason_) = piece.finish;
  if (piece.kind == modality::text) {
    const bool counted = !piece.tokens.empty() && (asked_->continuous_usage || asked_->work.sampling.logprobs);
    if (piece.text.empty() && !counted) return;
    json delta;
    if (asked_->want_content) delta["content"] = piece.text;
    delta["audio"] = audio_delta();
    delta["audio"]["transcript"] = piece.text;
    return append_delta(std::move(delta), logprobs_of(piece.tokens, *asked_), out);
  }
  if (piece.audio && piece.audio->rows > 0) held_back_ += track_.bytes_of(*piece.audio);
  // Whole samples, and no padding but at the end.
  const std::size_t ready = piece.finish ? held_back_.size() : held_back_.size() / 6 * 6;
  if (ready > 0) append_sound(ready, out);
}

void openai_events::append_sound(std::size_t bytes, std::string& out) {
  json delta;
  delta["audio"] = audio_delta();
  delta["audio"]["data"] = media::to_base64(std::string_view(held_back_).substr(0, bytes));
  held_back_.erase(0, bytes);
  append_delta(std::move(delta), nullptr, out);
}

void openai_events::on_end(std::string& out) {
  if (track_.begun()) {
    if (!held_back_.empty()) append_sound(held_back_.size(), out);
    json delta;
    delta["audio"] = audio_delta();
    delta["audio"]["expires_at"] = asked_->created + audio_expires_after_s;
    append_delta(std::move(delta), nullptr, out);
  }
  append_delta(json::object(), nullptr, out);
  if (asked_->include_usage) {
    json event = chunk_of(*asked_, json::array());
    event["usage"] = usage_.object(true);
    append_event(event, out);
  }
  out += end_of_events;
}

bool openai_events::on_failure(const failure& problem, std::string& out) {
  append_event(error_object(problem), out);
  out += end_of_events;
  return true;
}

} // namespace omni::openai
