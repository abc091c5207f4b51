#pragma once

#include "app/http/message.hpp"
#include "app/openai/json.hpp"

#include <string>

namespace omni::openai {

// Server-sent events.

/// The head of a stream of events: not to be cached or held back on its way.
http::response event_stream_head();

/// "data: {...}" and an empty line.
void append_event(const json& event, std::string& out);

/// What ends a stream of chat events.
inline constexpr const char* end_of_events = "data: [DONE]\n\n";

} // namespace omni::openai
