#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <cstring>
#include <utf8proc.h>

namespace omni::text {
namespace {

constexpr std::string_view replacement = "\xEF\xBF\xBD";

/// Length of the pure ASCII prefix.
std::size_t ascii_prefix(std::string_view bytes) {
  std::size_t at = 0;
  for (; at + 8 <= bytes.size(); at += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, 8);
    if ((word & 0x8080808080808080U) != 0) break;
  }
  while (at < bytes.size() && static_cast<unsigned char>(bytes[at]) < 0x80) ++at;
  return at;
}

} // namespace

utf8_step read_utf8(std::string_view bytes) {
  using kind = utf8_step::kind;
  const auto lead = static_cast<unsigned char>(bytes[0]);
  if (lead < 0x80) return {kind::whole, 1, lead};
  if (lead < 0xC2 || lead > 0xF4) return {kind::invalid, 1, 0xFFFD};
  const std::uint8_t size = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The second byte excludes overlong forms, surrogates and what lies beyond U+10FFFF (Unicode, table 3-7).
  unsigned char low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned char high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  char32_t code = lead & (0x7FU >> size);
  for (std::uint8_t i = 1; i < size; ++i) {
    if (i >= bytes.size()) return {kind::cut, i, 0xFFFD};
    const auto next = static_cast<unsigned char>(bytes[i]);
    if (next < low || next > high) return {kind::invalid, i, 0xFFFD};
    code = code << 6U | (next & 0x3FU);
    low = 0x80;
    high = 0xBF;
  }
  return {kind::whole, size, code};
}

void append_utf8(std::string& out, char32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0U | code >> 6U);
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0U | code >> 12U);
    out += static_cast<char>(0x80U | (code >> 6U & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  } else {
    out += static_cast<char>(0xF0U | code >> 18U);
    out += static_cast<char>(0x80U | (code >> 12U & 0x3FU));
    out += static_cast<char>(0x80U | (code >> 6U & 0x3FU));
    out += static_cast<char>(0x80U | (code & 0x3FU));
  }
}

std::size_t append_whole_characters(std::string& out, std::string_view bytes) {
  std::size_t at = 0;
  while (at < bytes.size()) {
    const std::size_t plain = ascii_prefix(bytes.substr(at));
    out.append(bytes, at, plain);
    at += plain;
    if (at == bytes.size()) break;
    const utf8_step step = read_utf8(bytes.substr(at));
    if (step.what == utf8_step::kind::cut) break;
    if (step.what == utf8_step::kind::whole)
      out.append(bytes, at, step.size);
    else
      out += replacement;
    at += step.size;
  }
  return at;
}

std::string repaired_utf8(std::string_view bytes) {
  std::string out;
  out.reserve(bytes.size());
  if (append_whole_characters(out, bytes) < bytes.size()) out += replacement;
  return out;
}

bool is_valid_utf8(std::string_view bytes) {
  std::size_t at = 0;
  while (true) {
    at += ascii_prefix(bytes.substr(at));
    if (at == bytes.size()) return true;
    const utf8_step step = read_utf8(bytes.substr(at));
    if (step.what != utf8_step::kind::whole) return false;
    at += step.size;
  }
}

bool is_white_space(char32_t code) {
  if (code < 0x80) return code == 0x20 || (code >= 0x09 && code <= 0x0D);
  return code == 0x85 || code == 0xA0 || code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
         code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}

bool is_numeric(char32_t code) {
  if (code < 0x80) return code >= '0' && code <= '9';
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category == UTF8PROC_CATEGORY_ND || category == UTF8PROC_CATEGORY_NL || category == UTF8PROC_CATEGORY_NO;
}

bool is_letter(char32_t code) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_LO;
}

bool is_word(char32_t code) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return (category >= UTF8PROC_CATEGORY_LU && category <= UTF8PROC_CATEGORY_NL) || category == UTF8PROC_CATEGORY_PC ||
         code == 0x200C || code == 0x200D;
}

} // namespace omni::text
