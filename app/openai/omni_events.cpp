#include "app/openai/omni_events.hpp"

#include "app/media/base64.hpp"
#include "app/openai/errors.hpp"
#include "app/openai/sound.hpp"
#include "app/openai/sse.hpp"

#include <nlohmann/json.hpp>

namespace omni::openai {

omni_events::omni_events(std::shared_ptr<const chat_request> asked, std::int64_t start_us)
    : asked_(std::move(asked)), usage_(*asked_),
      watch_(*asked_->pipeline, std::int32_t(asked_->work.prompt.size()), start_us),
      choices_(std::size_t(asked_->work.n),
               {.text_open = asked_->work.want_text, .audio_open = asked_->work.want_audio}) {}

http::response omni_events::head() const { return event_stream_head(); }

void omni_events::append_roles(std::string& out) {
  roles_sent_ = true;
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    json choice;
    choice["index"] = i;
    choice["delta"] = {{"role", "assistant"}, {"content", ""}};
    choice["logprobs"] = nullptr;
    choice["finish_reason"] = nullptr;
    json event = chunk_of(*asked_, json::array({std::move(choice)}));
    if (asked_->continuous_usage) event["usage"] = usage_.prompt_only();
    event["prompt_token_ids"] = asked_->return_token_ids ? json(asked_->work.prompt) : json();
    event["prompt_text"] = nullptr;
    event["modality"] = "text";
    append_event(event, out);
  }
}

void omni_events::on_output(const output& piece, std::int64_t now_us, std::string& out) {
  if (piece.choice < 0 || std::size_t(piece.choice) >= choices_.size()) return;
  if (piece.kind == modality::text) {
    if (!asked_->work.want_text) return;
    if (!roles_sent_) append_roles(out);
  }
  usage_.on_output(piece);
  watch_.on_output(piece, now_us);
  piece.kind == modality::text ? append_text(piece, out) : append_audio(piece, out);
}

json omni_events::finish_of(choice_state& choice) {
  if (choice.text_open || choice.audio_open) return nullptr;
  choice.finished = true;
  return to_string(joint_reason(choice.text_reason, choice.audio_reason));
}

void omni_events::append_text(const output& piece, std::string& out) {
  const bool counted =
      !piece.tokens.empty() && (asked_->continuous_usage || asked_->return_token_ids || asked_->work.sampling.logprobs);
  if (piece.text.empty() && !counted && !piece.finish) return; // text that is held back: nothing to tell yet
  choice_state& state = choices_[std::size_t(piece.choice)];
  json choice;
  choice["index"] = piece.choice;
  choice["delta"]["content"] = piece.text;
  choice["logprobs"] = logprobs_of(piece.tokens, *asked_);
  choice["finish_reason"] = nullptr;
  if (piece.finish) {
    state.text_open = false;
    state.text_reason = piece.finish;
    choice["finish_reason"] = finish_of(state);
    choice["stop_reason"] = stop_reason_of(piece.stop_reason, *asked_);
  }
  choice["token_ids"] = token_ids_of(piece.tokens, *asked_);
  json event = chunk_of(*asked_, json::array({std::move(choice)}));
  if (asked_->continuous_usage) event["usage"] = usage_.object(false);
  event["metrics"] = asked_->stage_metrics ? watch_.event_metrics(piece) : json();
  event["modality"] = "text";
  append_event(event, out);
}

void omni_events::append_audio(const output& piece, std::string& out) {
  const bool sounds = piece.audio && piece.audio->rows > 0;
  if (!sounds && !piece.finish) return;
  choice_state& state = choices_[std::size_t(piece.choice)];
  json choice;
  choice["index"] = piece.choice;
  choice["delta"] = {{"role", "assistant"}, {"content", ""}};
  json metadata;
  if (sounds) {
    const audio::sound_format shape = shape_of(*piece.audio);
    const std::string pcm = pcm16(*piece.audio);
    choice["delta"]["content"] = media::to_base64(audio::wav_header(shape, pcm.size()) + pcm);
    metadata = audio_metadata(shape.sample_rate, shape.channels, piece.audio->rows);
  }
  choice["logprobs"] = nullptr;
  choice["finish_reason"] = nullptr;
  if (piece.finish) {
    state.audio_open = false;
    state.audio_reason = piece.finish;
    choice["finish_reason"] = finish_of(state);
  }
  choice["stop_reason"] = nullptr;
  choice["token_ids"] = nullptr;
  if (sounds) choice["audio_metadata"] = std::move(metadata);
  json event = chunk_of(*asked_, json::array({std::move(choice)}));
  event["usage"] = usage_.prompt_only();
  event["metrics"] = asked_->stage_metrics ? watch_.event_metrics(piece) : json();
  event["modality"] = "audio";
  append_event(event, out);
}

void omni_events::on_end(std::string& out) {
  for (std::size_t i = 0; i < choices_.size(); ++i) {
    if (choices_[i].finished) continue; // else a modality never came: the choice is closed without it
    json choice;
    choice["index"] = i;
    choice["delta"] = json::object();
    choice["finish_reason"] = to_string(joint_reason(choices_[i].text_reason, choices_[i].audio_reason));
    append_event(chunk_of(*asked_, json::array({std::move(choice)})), out);
  }
  if (asked_->include_usage) {
    json event = chunk_of(*asked_, json::array());
    event["usage"] = usage_.object(true);
    append_event(event, out);
  }
  out += end_of_events;
}

bool omni_events::on_failure(const failure& problem, std::string& out) {
  append_event(error_object(problem), out);
  out += end_of_events;
  return true;
}

} // namespace omni::openai
