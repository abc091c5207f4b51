#include "app/openai/endpoints.hpp"
#include "app/openai/errors.hpp"
#include "app/openai/sinks.hpp"
#include "app/openai/speech_bodies.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace omni::openai {

void audio_speech(context& server, const http::request& /*asked*/, const json& body, responder_ptr to) {
  const std::int64_t start_us = now_us();
  std::optional<failure> problem;
  fields from(body, "", problem);
  read_model(from, server.served_names);
  if (problem) return to->send(error_response(*problem));
  auto read = read_speech(body, server.pipeline);
  if (!read) return to->send(error_response(read.error()));
  const auto speech = std::make_shared<speech_request>(std::move(*read));
  speech->work.name = "speech-" + server.ids.hex(32);
  speech->work.received = start_us;
  request work = speech->work;
  switch (speech->how) {
  case speech_request::delivery::whole:
    return answer_whole(server.running, std::move(work), std::make_unique<whole_speech>(speech), std::move(to));
  case speech_request::delivery::bytes:
    return answer_streamed(server.running, std::move(work), std::make_unique<speech_bytes>(speech), std::move(to));
  case speech_request::delivery::events:
    return answer_streamed(server.running, std::move(work), std::make_unique<speech_events>(speech), std::move(to));
  }
}

void audio_voices(context& server, const responder_ptr& to) {
  if (!server.pipeline->audio_output)
    return to->send(
        error_response({errc::not_found, "This server's pipeline does not speak, so it has no voices.", ""}));
  json out;
  out["voices"] = server.pipeline->speakers.empty() ? std::vector<std::string>{"default"} : server.pipeline->speakers;
  to->send({.body = dump(out)});
}

} // namespace omni::openai
