#pragma once

#include <string>
#include <string_view>

namespace omni {

/// Text from a file in quotes, made safe for a message: cut after 64 characters, what is not printable ASCII as '?'.
std::string shown(std::string_view text);

/// Throws `load_error`: "FILE: PROBLEM.".
[[noreturn]] void reject(const std::string& where, const std::string& problem);

/// The same for a file whose bytes contradict themselves; adds the advice to fetch it again.
[[noreturn]] void reject_damaged(const std::string& where, const std::string& problem);

} // namespace omni
