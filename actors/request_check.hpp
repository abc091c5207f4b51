#pragma once

#include "actors/stage_graph.hpp"
#include "kernels/runtime/runner.hpp"
#include "messages/errc.hpp"
#include "messages/request.hpp"

namespace omni {

/// Whether a request can be worked on, before it is admitted. `text_stage`: limits of the stage that reads prompts;
/// null if there is none. Errors: `invalid_request` and `context_too_long`, with the field at fault and what it may be.
expected<void> check_request(const request& what, const stage_graph& graph, const runner_info* text_stage);

} // namespace omni
