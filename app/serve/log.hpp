#pragma once

#include "messages/errc.hpp"

#include <string_view>

namespace omni::serve {

/// Writes one line with level and time to standard error, e.g. "WARNING 04-19 14:07:09 text". Any thread.
void log_info(std::string_view text);
void log_warning(std::string_view text);
void log_error(std::string_view text);

/// Statuses of the program.
inline constexpr int exit_failed = 1;
inline constexpr int exit_wrong_use = 2;

/// Tells why the program ends, in one sentence on standard error; returns the status: `exit_wrong_use` for what its
/// user must change (`invalid_request`, `replica_conflict`), else `exit_failed`.
int complain(const failure& problem);

} // namespace omni::serve
