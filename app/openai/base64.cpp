#include "app/openai/base64.hpp"

#include <cstdint>

namespace omni::openai {

std::string base64(std::string_view bytes) {
  static constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto byte = [&](std::size_t i) { return i < bytes.size() ? static_cast<unsigned char>(bytes[i]) : 0U; };
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  std::size_t at = 0;
  for (std::size_t i = 0; i < bytes.size(); i += 3, at += 4) {
    const std::uint32_t group = byte(i) << 16U | byte(i + 1) << 8U | byte(i + 2);
    out[at] = alphabet[group >> 18U];
    out[at + 1] = alphabet[group >> 12U & 63U];
    if (i + 1 < bytes.size()) out[at + 2] = alphabet[group >> 6U & 63U];
    if (i + 2 < bytes.size()) out[at + 3] = alphabet[group & 63U];
  }
  return out;
}

} // namespace omni::openai
