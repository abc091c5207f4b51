#pragma once

#include "messages/config.hpp"
#include "messages/errc.hpp"

namespace omni {

/// Whether an engine can be built from this. Errors: `invalid_request`, a sentence that names the stage and the key.
expected<void> check_config(const engine_config& config);

} // namespace omni
