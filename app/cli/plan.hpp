#pragma once

#include "app/cli/launch_plan.hpp"
#include "app/cli/machine.hpp"

#include <optional>
#include <string>

namespace omni::cli {

/// What the stages of a launch cost on a machine, as text: weights, bytes of a token, lower bounds of steps, and how
/// many streams fit. `context`: tokens of a stream; none: the most that each stage takes. Loads no weights.
expected<std::string> describe_costs(const engine_config& config, const machine& on,
                                     std::optional<std::int64_t> context);

} // namespace omni::cli
