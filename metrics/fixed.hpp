#pragma once

#include <array>
#include <charconv>
#include <string>

namespace omni {

/// As printf's %.Nf, whatever the locale.
inline std::string fixed(double value, int decimals) {
  std::array<char, 350> buffer; // the longest double has 309 digits before the point
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, std::chars_format::fixed, decimals);
  return {buffer.data(), end.ptr};
}

} // namespace omni
