#pragma once

#include "app/openai/answer_body.hpp"
#include "app/openai/chat_request.hpp"

#include <cstdint>
#include <memory>
#include <string>

namespace omni::openai {

/// The server-sent events of one streamed chat request, in the shape that it chose.
std::unique_ptr<stream_body> make_chat_events(std::shared_ptr<const chat_request> asked, std::int64_t start_us);

} // namespace omni::openai
