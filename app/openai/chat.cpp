#include "app/openai/chat_answer.hpp"
#include "app/openai/chat_events.hpp"
#include "app/openai/endpoints.hpp"
#include "app/openai/errors.hpp"
#include "app/openai/sinks.hpp"

#include <utility>

namespace omni::openai {

void chat_completions(context& server, const http::request& /*asked*/, const json& body, responder_ptr to) {
  const std::int64_t start_us = now_us();
  std::optional<failure> problem;
  fields from(body, "", problem);
  std::string model = read_model(from, server.served_names);
  if (problem) return to->send(error_response(*problem));
  auto read = read_chat(body, server.pipeline);
  if (!read) return to->send(error_response(read.error()));
  const auto chat = std::make_shared<chat_request>(std::move(*read));
  chat->id = "chatcmpl-" + server.ids.hex(32);
  chat->audio_id = "audio-" + server.ids.hex(16);
  chat->model = std::move(model);
  chat->created = unix_seconds();
  chat->work.name = chat->id;
  chat->work.received = start_us;
  request work = chat->work; // the bodies read the rest of it
  if (chat->stream)
    answer_streamed(server.running, std::move(work), make_chat_events(chat, start_us), std::move(to));
  else
    answer_whole(server.running, std::move(work), std::make_unique<chat_answer>(chat, start_us), std::move(to));
}

} // namespace omni::openai
