#include "kernels/text/byte_alphabet.hpp"

#include "kernels/text/utf8.hpp"

#include <array>

namespace omni::text {
namespace {

constexpr bool is_own_character(unsigned byte) {
  return (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
}

constexpr std::size_t stand_ins = 68; // bytes that are not their own character
constexpr char32_t first_stand_in = 0x100;

struct alphabet {
  std::array<char32_t, 256> character{};
  std::array<unsigned char, stand_ins> byte{}; // of character first_stand_in + index
};

constexpr alphabet make_alphabet() {
  alphabet made;
  std::size_t used = 0;
  for (unsigned byte = 0; byte < 256; ++byte) {
    made.character[byte] = byte;
    if (is_own_character(byte)) continue;
    made.character[byte] = first_stand_in + static_cast<char32_t>(used);
    made.byte[used++] = static_cast<unsigned char>(byte);
  }
  return made;
}

constexpr alphabet table = make_alphabet();

} // namespace

std::string to_byte_alphabet(std::string_view bytes) {
  std::string spelled;
  for (const char byte : bytes) append_utf8(spelled, table.character[static_cast<unsigned char>(byte)]);
  return spelled;
}

std::optional<std::string> from_byte_alphabet(std::string_view spelled) {
  std::string bytes;
  while (!spelled.empty()) {
    const utf8_step step = read_utf8(spelled);
    if (step.code < 256 && is_own_character(step.code))
      bytes += static_cast<char>(step.code);
    else if (step.code >= first_stand_in && step.code < first_stand_in + stand_ins)
      bytes += static_cast<char>(table.byte[step.code - first_stand_in]);
    else
      return std::nullopt; // an invalid byte too: it reads as U+FFFD
    spelled.remove_prefix(step.size);
  }
  return bytes;
}

} // namespace omni::text
