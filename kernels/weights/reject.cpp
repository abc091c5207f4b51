#include "kernels/weights/reject.hpp"

#include "kernels/core/error.hpp"

namespace omni {

std::string shown(std::string_view text) {
  constexpr std::size_t longest = 64;
  std::string quoted = "'";
  for (const char c : text.substr(0, longest)) quoted += c >= 0x20 && c < 0x7f ? c : '?';
  if (text.size() > longest) quoted += "...";
  return quoted + "'";
}

void reject(const std::string& where, const std::string& problem) { throw load_error(where + ": " + problem + "."); }

void reject_damaged(const std::string& where, const std::string& problem) {
  reject(where, problem + "; the file is damaged, so fetch it again");
}

} // namespace omni
