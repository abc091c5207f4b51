#include "app/openai/chat_answer.hpp"

#include "app/media/base64.hpp"
#include "app/openai/openai_events.hpp"

#include <nlohmann/json.hpp>

namespace omni::openai {

chat_answer::chat_answer(std::shared_ptr<const chat_request> asked, std::int64_t start_us)
    : asked_(std::move(asked)), usage_(*asked_),
      watch_(*asked_->pipeline, std::int32_t(asked_->work.prompt.size()), start_us),
      choices_(std::size_t(asked_->work.n)) {}

void chat_answer::on_output(const output& piece, std::int64_t now_us) {
  if (piece.choice < 0 || std::size_t(piece.choice) >= choices_.size()) return;
  usage_.on_output(piece);
  watch_.on_output(piece, now_us);
  choice_state& state = choices_[std::size_t(piece.choice)];
  if (piece.kind == modality::text) {
    state.text += piece.text;
    if (asked_->return_token_ids || asked_->work.sampling.logprobs)
      state.tokens.insert(state.tokens.end(), piece.tokens.begin(), piece.tokens.end());
    if (piece.finish) state.text_reason = piece.finish;
    if (!piece.stop_reason.empty()) state.stop_reason = piece.stop_reason;
    return;
  }
  if (piece.finish) state.audio_reason = piece.finish;
  if (!piece.audio || piece.audio->rows == 0) return;
  shape_ = shape_of(*piece.audio);
  pcm_ += pcm16(*piece.audio);
}

json chat_answer::audio_object() const {
  if (pcm_.empty()) return nullptr;
  const bool openai = asked_->shape == chat_shape::openai;
  const bool wav = !openai || asked_->format == sound_format::wav;
  json out;
  out["id"] = asked_->audio_id;
  out["data"] = media::to_base64(wav ? omni::audio::wav_header(shape_, pcm_.size()) + pcm_ : pcm_);
  out["expires_at"] = asked_->created + audio_expires_after_s;
  out["transcript"] = openai ? choices_.front().text : "";
  return out;
}

json chat_answer::choice(std::size_t index) const {
  const choice_state& state = choices_[index];
  json message;
  message["role"] = "assistant";
  message["content"] = asked_->want_content ? json(state.text) : json();
  message["refusal"] = nullptr;
  message["audio"] = audio_object();
  json out;
  out["index"] = index;
  out["message"] = std::move(message);
  out["logprobs"] = logprobs_of(state.tokens, *asked_);
  out["finish_reason"] = to_string(joint_reason(state.text_reason, state.audio_reason));
  out["stop_reason"] = stop_reason_of(state.stop_reason, *asked_);
  out["token_ids"] = token_ids_of(state.tokens, *asked_);
  if (!pcm_.empty() && asked_->shape == chat_shape::omni)
    out["audio_metadata"] =
        audio_metadata(shape_.sample_rate, shape_.channels, std::int64_t(pcm_.size()) / 2 / shape_.channels);
  return out;
}

http::response chat_answer::whole() const {
  json out;
  out["id"] = asked_->id;
  out["object"] = "chat.completion";
  out["created"] = asked_->created;
  out["model"] = asked_->model;
  out["choices"] = json::array();
  for (std::size_t i = 0; i < choices_.size(); ++i) out["choices"].push_back(choice(i));
  out["service_tier"] = nullptr;
  out["system_fingerprint"] = nullptr;
  out["usage"] = usage_.object(true);
  out["prompt_token_ids"] = asked_->return_token_ids ? json(asked_->work.prompt) : json();
  out["metrics"] = asked_->stage_metrics ? watch_.answer_metrics() : json();
  return {.body = dump(out)};
}

} // namespace omni::openai
