#pragma once

#include <string_view>

namespace omni::serve {

/// Writes one line with level and time to standard error, e.g. "WARNING 04-19 14:07:09 text". Any thread.
void log_info(std::string_view text);
void log_warning(std::string_view text);
void log_error(std::string_view text);

} // namespace omni::serve
