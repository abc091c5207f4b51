#pragma once

#include "app/cli/serve_options.hpp"
#include "app/serve/stop_signals.hpp"
#include "messages/config.hpp"

namespace omni::serve {

/// Runs replicas of one stage for a head in another process until they are let go, refused, or a signal comes: the
/// first lets them finish what they have, a second one ends them. Returns the status of the program: 2 if the head
/// refused them, which is told in a sentence.
int serve_replicas(const cli::serve_options& options, const engine_config& config, stop_signals& signals);

} // namespace omni::serve
