#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace omni::text {

/// What stands at the start of a byte string.
struct utf8_step {
  enum class kind : std::uint8_t {
    whole,   // one character
    invalid, // `size` bytes that can never become a character (the maximal subpart that Unicode replaces by one U+FFFD)
    cut,     // the string ends inside a character that may still become valid
  };
  kind what;
  std::uint8_t size; // bytes
  char32_t code;     // the character; U+FFFD unless whole
};

/// Reads one character from the start of `bytes`, which must not be empty.
utf8_step read_utf8(std::string_view bytes);

/// Appends `code`, a Unicode scalar value.
void append_utf8(std::string& out, char32_t code);

/// Appends the characters of `bytes` to `out`, U+FFFD for each maximal run that can never be valid, and stops before a
/// character that the end of `bytes` cuts. Returns the bytes consumed: all but at most three.
std::size_t append_whole_characters(std::string& out, std::string_view bytes);

/// `bytes` as valid UTF-8: every invalid run, a cut end included, becomes one U+FFFD.
std::string repaired_utf8(std::string_view bytes);

bool is_valid_utf8(std::string_view bytes);

/// Bytes of the character that starts with `lead`; the text must be valid.
inline std::size_t utf8_size(char lead) {
  const auto byte = static_cast<unsigned char>(lead);
  return byte < 0x80 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

inline bool starts_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0U) != 0x80U; }

/// Unicode White_Space.
bool is_white_space(char32_t code);
/// General categories Nd, Nl, No.
bool is_numeric(char32_t code);
/// General categories L*.
bool is_letter(char32_t code);
/// What a regular expression's \w takes: letters, marks, digits, connector punctuation, joiners.
bool is_word(char32_t code);

} // namespace omni::text
