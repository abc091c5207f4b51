#pragma once

#include "app/openai/context.hpp"
#include "app/openai/endpoints.hpp"

#include <atomic>
#include <functional>

namespace omni::openai {

/// Runs `work`, which reads a prompt of `body` and answers `to`: at once, or on a thread of `media_workers` if the body
/// brings media. Its second argument becomes true when the client is gone.
void with_prompt(context& server, json body, responder_ptr to,
                 std::function<void(const json& body, const std::atomic<bool>& cancelled, responder_ptr to)> work);

} // namespace omni::openai
