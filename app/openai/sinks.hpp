#pragma once

#include "app/http/responder.hpp"
#include "app/openai/answer_body.hpp"

#include "actors/engine.hpp"

#include <memory>

namespace omni::openai {

/// Microseconds on the clock that the bodies are given.
std::int64_t now_us();

/// Hands a request to the engine; its outputs go through `body` to `to`. A failure before the first byte is an error
/// object with its status; a client that goes away aborts the request.
void answer_streamed(engine& running, request work, std::unique_ptr<stream_body> body,
                     std::shared_ptr<http::responder> to);
void answer_whole(engine& running, request work, std::unique_ptr<whole_body> body, std::shared_ptr<http::responder> to);

} // namespace omni::openai
