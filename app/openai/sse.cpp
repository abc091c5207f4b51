#include "app/openai/sse.hpp"

namespace omni::openai {

http::response event_stream_head() {
  return {.content_type = "text/event-stream; charset=utf-8",
          .headers = {{"Cache-Control", "no-cache"}, {"X-Accel-Buffering", "no"}}};
}

void append_event(const json& event, std::string& out) { out += "data: " + dump(event) + "\n\n"; }

} // namespace omni::openai
