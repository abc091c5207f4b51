#include "app/openai/chat_events.hpp"

#include "app/openai/omni_events.hpp"
#include "app/openai/openai_events.hpp"

namespace omni::openai {

std::unique_ptr<stream_body> make_chat_events(std::shared_ptr<const chat_request> asked, std::int64_t start_us) {
  if (asked->shape == chat_shape::openai) return std::make_unique<openai_events>(std::move(asked));
  return std::make_unique<omni_events>(std::move(asked), start_us);
}

} // namespace omni::openai
