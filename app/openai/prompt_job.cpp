#include "app/openai/prompt_job.hpp"

#include "app/openai/chat_prompt.hpp"
#include "app/openai/errors.hpp"

#include <exception>
#include <nlohmann/json.hpp>
#include <utility>

namespace omni::openai {

void with_prompt(context& server, json body, responder_ptr to,
                 std::function<void(const json& body, const std::atomic<bool>& cancelled, responder_ptr to)> work) {
  if (!brings_media(body)) return work(body, false, std::move(to));
  const auto cancelled = std::make_shared<std::atomic<bool>>(false);
  to->on_close([cancelled] { *cancelled = true; });
  const bool taken = server.media_workers.post(
      [&server, cancelled, to, body = std::make_shared<const json>(std::move(body)), work = std::move(work)] {
        try {
          work(*body, *cancelled, to);
        } catch (const std::exception& problem) { // what is left unanswered answers 500
          server.log(std::string("The media of a request could not be read: ") + problem.what() + ".");
        }
      });
  if (!taken)
    to->send(error_response({errc::overloaded,
                             "Too many requests with sounds, pictures or videos wait to be read: try again later.",
                             "messages"}));
}

} // namespace omni::openai
