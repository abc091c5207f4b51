#include "kernels/text/speakable_marks.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace omni::text {
namespace {

using namespace std::string_view_literals;

constexpr std::array<std::pair<char32_t, char32_t>, 18> silent_ranges = {{
    {0x00, 0x08},
    {0x0B, 0x1F},
    {0x7F, 0x9F},
    {0xAD, 0xAD},
    {0x200B, 0x200F},
    {0x202A, 0x202E},
    {0x2060, 0x206F},
    {0x20E3, 0x20E3},
    {0x2300, 0x23FF},
    {0x25A0, 0x27BF},
    {0x2B00, 0x2BFF},
    {0x3030, 0x3030},
    {0xE000, 0xF8FF},
    {0xFE00, 0xFE0F},
    {0xFEFF, 0xFEFF},
    {0xFFFC, 0xFFFD},
    {0x1F000, 0x1FAFF},
    {0xE0000, 0xE0FFF},
}};

constexpr std::array<std::pair<std::u32string_view, char32_t>, 22> entities = {{
    {U"amp"sv, U'&'},    {U"lt"sv, U'<'},    {U"gt"sv, U'>'},    {U"quot"sv, U'"'},   {U"apos"sv, U'\''},
    {U"nbsp"sv, U' '},   {U"ndash"sv, U'–'}, {U"mdash"sv, U'—'}, {U"hellip"sv, U'…'}, {U"lsquo"sv, U'‘'},
    {U"rsquo"sv, U'’'},  {U"ldquo"sv, U'“'}, {U"rdquo"sv, U'”'}, {U"times"sv, U'×'},  {U"divide"sv, U'÷'},
    {U"deg"sv, U'°'},    {U"euro"sv, U'€'},  {U"pound"sv, U'£'}, {U"copy"sv, U'©'},   {U"plusmn"sv, U'±'},
    {U"frac12"sv, U'½'}, {U"laquo"sv, U'«'},
}};

} // namespace

bool is_silent(char32_t c) {
  return std::any_of(silent_ranges.begin(), silent_ranges.end(),
                     [&](const auto& range) { return c >= range.first && c <= range.second; });
}

bool is_arrow(char32_t c) {
  return (c >= 0x2190 && c <= 0x21FF) || (c >= 0x27F0 && c <= 0x27FF) || c == 0x2794 || (c >= 0x2798 && c <= 0x27BE);
}

bool is_currency(char32_t c) { return c != 0 && U"$€£¥₹₩₽"sv.find(c) != std::u32string_view::npos; }

std::optional<char32_t> decode_entity(std::u32string_view name) {
  if (name.empty()) return std::nullopt;
  if (name.front() != U'#') {
    const auto found = std::find_if(entities.begin(), entities.end(), [&](const auto& e) { return e.first == name; });
    return found == entities.end() ? std::nullopt : std::optional(found->second);
  }
  name.remove_prefix(1);
  const bool hex = !name.empty() && (name.front() == U'x' || name.front() == U'X');
  if (hex) name.remove_prefix(1);
  char32_t code = 0;
  for (const char32_t c : name) {
    char32_t digit = 99;
    if (c >= U'0' && c <= U'9')
      digit = c - U'0';
    else if (hex && c >= U'a' && c <= U'f')
      digit = c - U'a' + 10;
    else if (hex && c >= U'A' && c <= U'F')
      digit = c - U'A' + 10;
    if (digit == 99) return std::nullopt;
    code = code * (hex ? 16 : 10) + digit;
    if (code > 0x10FFFF) return std::nullopt;
  }
  const bool scalar = code >= 0x20 && (code < 0xD800 || code > 0xDFFF);
  return !name.empty() && scalar ? std::optional(code) : std::nullopt;
}

std::u32string_view host_of(std::u32string_view address) {
  if (const auto scheme = address.find(U"://"); scheme != std::u32string_view::npos) address.remove_prefix(scheme + 3);
  address = address.substr(0, address.find_first_of(U"/?#\\"));
  if (const auto user = address.rfind(U'@'); user != std::u32string_view::npos) address.remove_prefix(user + 1);
  address = address.substr(0, address.find(U':'));
  const auto www = address.substr(0, 4);
  if (www == U"www." || www == U"WWW.") address.remove_prefix(4);
  return address;
}

} // namespace omni::text
