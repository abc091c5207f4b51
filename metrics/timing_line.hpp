#pragma once

#include "messages/report.hpp"

#include <string>

namespace omni {

/// The console line of one request, with vLLM-Omni's tag and keys; all values in milliseconds.
[[nodiscard]] std::string timing_line(const request_timeline& of);

} // namespace omni
