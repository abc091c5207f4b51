#include "app/openai/speech_bodies.hpp"

#include "app/media/base64.hpp"
#include "app/openai/errors.hpp"
#include "app/openai/sse.hpp"

#include <cmath>
#include <nlohmann/json.hpp>
#include <utility>

namespace omni::openai {
namespace {

bool sounds(const output& piece) { return piece.kind == modality::audio && piece.audio && piece.audio->rows > 0; }

http::response sound_head(const speech_request& asked) {
  return {.content_type = asked.format == sound_format::wav ? "audio/wav" : "audio/pcm",
          .headers = {{"X-Sample-Rate", std::to_string(asked.pipeline->sample_rate)}}};
}

void append_named_event(const json& event, std::string& out) {
  out += "event: " + event["type"].get<std::string>() + "\n";
  append_event(event, out);
}

} // namespace

void speech_usage::on_output(const output& piece) {
  if (sounds(piece)) samples_ += piece.audio->rows;
}

std::int64_t speech_usage::output_tokens() const {
  const pipeline_facts& pipeline = *asked_.pipeline;
  if (pipeline.sample_rate <= 0) return 0;
  return std::llround(double(samples_) / pipeline.sample_rate * pipeline.frames_per_second);
}

json speech_usage::object() const {
  json out;
  out["input_tokens"] = asked_.input_tokens;
  out["output_tokens"] = output_tokens();
  out["total_tokens"] = asked_.input_tokens + output_tokens();
  out["input_token_details"]["text_tokens"] = asked_.input_tokens;
  out["input_token_details"]["audio_tokens"] = 0;
  return out;
}

whole_speech::whole_speech(std::shared_ptr<const speech_request> asked)
    : asked_(std::move(asked)), usage_(*asked_), shape_{.sample_rate = asked_->pipeline->sample_rate} {}

void whole_speech::on_output(const output& piece, std::int64_t /*now_us*/) {
  if (!sounds(piece)) return;
  usage_.on_output(piece);
  shape_ = shape_of(*piece.audio);
  pcm_ += pcm16(*piece.audio);
}

http::response whole_speech::whole() const {
  http::response out = sound_head(*asked_);
  const std::int64_t input = asked_->input_tokens;
  const std::int64_t made = usage_.output_tokens();
  for (const auto& [name, count] : {std::pair{"input-tokens", input},
                                    {"output-tokens", made},
                                    {"total-tokens", input + made},
                                    {"input-text-tokens", input},
                                    {"input-audio-tokens", std::int64_t{0}}})
    out.headers.push_back({std::string("x-vllm-omni-") + name, std::to_string(count)});
  if (asked_->format == sound_format::wav) out.body = audio::wav_header(shape_, pcm_.size());
  out.body += pcm_;
  return out;
}

speech_bytes::speech_bytes(std::shared_ptr<const speech_request> asked)
    : asked_(std::move(asked)), track_(asked_->format) {}

http::response speech_bytes::head() const { return sound_head(*asked_); }

void speech_bytes::on_output(const output& piece, std::int64_t /*now_us*/, std::string& out) {
  if (sounds(piece)) out += track_.bytes_of(*piece.audio);
}

void speech_bytes::on_end(std::string& /*out*/) {}

bool speech_bytes::on_failure(const failure& /*problem*/, std::string& /*out*/) { return false; }

speech_events::speech_events(std::shared_ptr<const speech_request> asked)
    : asked_(std::move(asked)), usage_(*asked_), track_(asked_->format) {}

http::response speech_events::head() const { return event_stream_head(); }

void speech_events::on_output(const output& piece, std::int64_t /*now_us*/, std::string& out) {
  if (!sounds(piece)) return;
  usage_.on_output(piece);
  json event;
  event["type"] = "speech.audio.delta";
  event["audio"] = media::to_base64(track_.bytes_of(*piece.audio));
  event["response_format"] = asked_->format == sound_format::wav ? "wav" : "pcm";
  append_named_event(event, out);
}

void speech_events::on_end(std::string& out) {
  json event;
  event["type"] = "speech.audio.done";
  event["usage"] = usage_.object();
  append_named_event(event, out);
}

bool speech_events::on_failure(const failure& problem, std::string& out) {
  json event;
  event["type"] = "speech.audio.error";
  event["error"] = {
      {"message", problem.message}, {"type", "server_error"}, {"param", nullptr}, {"code", status_of(problem.code)}};
  if (track_.begun()) {
    event["error"]["partial_audio"] = true;
    event["error"]["action"] = "discard";
  }
  append_named_event(event, out);
  return true;
}

} // namespace omni::openai
