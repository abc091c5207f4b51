#include "app/media/base64.hpp"

#include <array>
#include <cstdint>

namespace omni::media {

namespace {

constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
constexpr std::uint8_t no_digit = 64;

constexpr std::array<std::uint8_t, 256> digit_values() {
  std::array<std::uint8_t, 256> values{};
  values.fill(no_digit);
  for (std::size_t i = 0; i < alphabet.size(); ++i)
    values[static_cast<unsigned char>(alphabet[i])] = static_cast<std::uint8_t>(i);
  return values;
}

} // namespace

std::string to_base64(std::string_view bytes) {
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

std::optional<std::string> from_base64(std::string_view text) {
  static constexpr auto values = digit_values();
  if (text.size() % 4 == 0)
    for (int i = 0; i < 2 && text.ends_with('='); ++i) text.remove_suffix(1);
  if (text.size() % 4 == 1) return std::nullopt; // six bits are no byte
  std::string out;
  out.reserve(text.size() / 4 * 3 + 2);
  std::uint32_t bits = 0;
  unsigned held = 0;
  for (const char c : text) {
    const std::uint8_t value = values[static_cast<unsigned char>(c)];
    if (value == no_digit) return std::nullopt;
    bits = bits << 6U | value;
    held += 6;
    if (held < 8) continue;
    held -= 8;
    out.push_back(static_cast<char>(bits >> held & 255U));
  }
  return out;
}

} // namespace omni::media
