#pragma once

namespace omni::detail {
/// Prints one line with `what`, the condition and the place to stderr, then aborts.
[[noreturn]] void check_failed(const char* condition, const char* what, const char* file, int line);
} // namespace omni::detail

/// States what must hold; a violation is a bug of ours, so the process aborts with a message.
/// Never use it for input: bad input is an error that is returned or a `load_error`.
#define OMNI_CHECK(condition, what)                                                                                    \
  (static_cast<bool>(condition) ? void(0) : ::omni::detail::check_failed(#condition, what, __FILE__, __LINE__))
