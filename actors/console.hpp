#pragma once

#include <string_view>

namespace omni {

/// Writes one line with level and time to standard error, e.g. "WARNING 04-19 14:07:09 text". Any thread.
void print_line(const char* level, std::string_view text);

} // namespace omni
