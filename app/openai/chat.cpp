#include "app/openai/chat_answer.hpp"
#include "app/openai/chat_events.hpp"
#include "app/openai/endpoints.hpp"
#include "app/openai/errors.hpp"
#include "app/openai/prompt_job.hpp"
#include "app/openai/sinks.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace omni::openai {
namespace {

/// What the handler's thread gives a chat request before its prompt is read.
struct chat_names {
  std::string id;
  std::string audio_id;
  std::string model;
  std::int64_t start_us = 0;
};

void answer_chat(context& server, const chat_names& names, const json& body, const std::atomic<bool>& cancelled,
                 responder_ptr to) {
  auto read = read_chat(body, server.pipeline, server.media, cancelled);
  if (!read) return to->send(error_response(read.error()));
  const auto chat = std::make_shared<chat_request>(std::move(*read));
  chat->id = names.id;
  chat->audio_id = names.audio_id;
  chat->model = names.model;
  chat->created = unix_seconds();
  chat->work.name = chat->id;
  chat->work.received = names.start_us;
  request work = chat->work; // the bodies read the rest of it
  chat->work.media.clear();  // the engine lets go of them when the request ends
  if (chat->stream)
    answer_streamed(server.running, std::move(work), make_chat_events(chat, names.start_us), std::move(to));
  else
    answer_whole(server.running, std::move(work), std::make_unique<chat_answer>(chat, names.start_us), std::move(to));
}

} // namespace

void chat_completions(context& server, const http::request& /*asked*/, json body, responder_ptr to) {
  chat_names names;
  names.start_us = now_us();
  std::optional<failure> problem;
  fields from(body, "", problem);
  names.model = read_model(from, server.served_names);
  if (problem) return to->send(error_response(*problem));
  names.id = "chatcmpl-" + server.ids.hex(32);
  names.audio_id = "audio-" + server.ids.hex(16);
  with_prompt(
      server, std::move(body), std::move(to),
      [&server, names = std::move(names)](const json& whole, const std::atomic<bool>& cancelled, responder_ptr answer) {
        answer_chat(server, names, whole, cancelled, std::move(answer));
      });
}

} // namespace omni::openai
