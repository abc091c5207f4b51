#include "kernels/text/speakable.hpp"

#include "kernels/text/speakable_marks.hpp"
#include "kernels/text/utf8.hpp"

#include <algorithm>

namespace omni::text {
namespace {

// How far a construct may reach; beyond it the mark that opened it is an ordinary one.
constexpr std::size_t longest_entity = 10;
constexpr std::size_t longest_note = 64;
constexpr std::size_t longest_tag = 400;
constexpr std::size_t longest_phonemes = 600;
constexpr std::size_t longest_address = 1000;

bool is_space(char32_t c) { return is_white_space(c); }
bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }
bool is_ascii_punctuation(char32_t c) {
  return (c >= 0x21 && c <= 0x2F) || (c >= 0x3A && c <= 0x40) || (c >= 0x5B && c <= 0x60) || (c >= 0x7B && c <= 0x7E);
}
bool starts_tag(char32_t c) { return (c >= U'a' && c <= U'z') || (c >= U'A' && c <= U'Z') || c == U'/' || c == U'!'; }

/// Tags after which a reader begins a new line.
bool breaks_line(std::u32string_view tag) {
  if (!tag.empty() && tag.front() == U'/') tag.remove_prefix(1);
  std::u32string name;
  for (const char32_t c : tag) {
    if (is_space(c) || c == U'/') break;
    name += c >= U'A' && c <= U'Z' ? c + 32 : c;
  }
  for (const auto* known : {U"br", U"p", U"div", U"li", U"ul", U"ol", U"tr", U"h1", U"h2", U"h3", U"h4", U"h5", U"h6"})
    if (name == known) return true;
  return false;
}

} // namespace

bool speakable::step_inline() {
  const char32_t c = at(0);
  if (c == U'\n') return end_line();
  if (c == U'`') return backticks();
  if (code_ticks_ > 0) return c == U'_' || c == U'(' || c == U')' ? say(U' ', 1) : say(c, 1);
  switch (c) {
  case U'\\':
    return escape();
  case U'*':
    return asterisks();
  case U'_':
    return underscores();
  case U'~':
    return tildes();
  case U'[':
    return open_bracket();
  case U']':
    return close_bracket();
  case U'<':
    return angle_bracket();
  case U'&':
    return entity();
  case U'-':
    return hyphens();
  case U'=':
    return equals();
  case U'.':
    return full_stops();
  case U'|':
    return pipe();
  case U'#':
    return number_sign();
  case U'!':
    return exclamation();
  case U'h':
  case U'H':
  case U'w':
  case U'W':
    return address();
  case U'{':
  case U'}':
  case U'\t':
  case U'\u00A0':
    return say(U' ', 1);
  case U'^':
    return drop(1);
  case U'?':
  case U',':
  case U';':
  case U':':
    return before_ == c ? drop(1) : say(c, 1);
  default:
    break;
  }
  if (is_currency(c)) return currency();
  if (is_arrow(c)) return say(U", ", 1);
  if (is_silent(c)) return drop(1);
  return say(c, 1);
}

bool speakable::end_line() {
  at_line_start_ = true;
  if (in_heading_ || in_table_)
    break_block();
  else
    say(U' ', 0);
  return drop(1);
}

bool speakable::escape() {
  if (!known(1)) return false;
  const char32_t c = at(1);
  if (c == U'(' || c == U')' || c == U'[' || c == U']' || c == U'\\') return drop(2); // marks of mathematics
  if (c == U'*' || c == U'_' || c == U'`' || c == U'~') return drop(2); // shown, but nobody reads them aloud
  return is_ascii_punctuation(c) && !is_currency(c) ? say(c, 2) : drop(1);
}

/// Emphasis is silent; between numbers, or alone between spaces, it is a product.
bool speakable::asterisks() {
  const auto end = past(0, U'*');
  if (!known(end)) return false;
  const char32_t after = at(end);
  const bool alone = is_space(before_) && is_space(after);
  const bool product = end == 1 && ((alone && is_word(solid_)) || (is_digit(before_) && is_digit(after)));
  return product ? say(U'×', 1) : drop(end);
}

bool speakable::underscores() {
  const auto end = past(0, U'_');
  if (!known(end)) return false;
  return is_word(before_) && is_word(at(end)) ? say(U' ', end) : drop(end);
}

bool speakable::tildes() {
  const auto end = past(0, U'~');
  if (!known(end)) return false;
  return end == 1 && is_digit(at(1)) ? say(U'≈', 1) : drop(end);
}

bool speakable::backticks() {
  const auto end = past(0, U'`');
  if (!known(end)) return false;
  if (code_ticks_ == 0)
    code_ticks_ = end;
  else if (code_ticks_ == end)
    code_ticks_ = 0;
  return drop(end);
}

/// "[text](address)": brackets are silent, so the text needs nothing; what follows it is handled where it closes.
bool speakable::open_bracket() {
  if (!known(1)) return false;
  if (at(1) == U'^') { // a footnote's mark
    const auto end = find(2, U']', longest_note);
    if (end.result == lookup::what::unknown) return false;
    return drop(end.result == lookup::what::found ? end.at + 1 : 1);
  }
  if (at(1) == U'[') { // phonemes
    const auto end = find(2, U']', longest_phonemes);
    if (end.result == lookup::what::unknown) return false;
    if (end.result == lookup::what::found && !known(end.at + 1)) return false;
    if (end.result == lookup::what::found && at(end.at + 1) == U']') {
      const auto all = rest_.substr(0, end.at + 2);
      return say(all, all.size());
    }
  }
  if (is_digit(at(1)) && !is_space(before_)) { // a source: "as shown [12]"
    std::size_t end = 1;
    while (end < 5 && is_digit(at(end))) ++end;
    if (!known(end)) return false;
    if (at(end) == U']') {
      if (!known(end + 1)) return false;
      if (at(end + 1) != U'(') return drop(end + 1);
    }
  }
  ++open_brackets_;
  return drop(1);
}

bool speakable::close_bracket() {
  if (open_brackets_ == 0) return drop(1);
  if (!known(1)) return false;
  const char32_t opens = at(1);
  if (opens != U'(' && opens != U'[') {
    --open_brackets_;
    return drop(1);
  }
  const char32_t closes = opens == U'(' ? U')' : U']';
  std::size_t depth = 0;
  for (std::size_t i = 1; i < longest_address; ++i) {
    if (!known(i)) return false;
    const char32_t c = at(i);
    if (c == U'\n') break;
    if (c == opens) ++depth;
    if (c == closes && --depth == 0) {
      --open_brackets_;
      return drop(i + 1);
    }
  }
  --open_brackets_;
  return drop(1);
}

bool speakable::angle_bracket() {
  if (!known(1)) return false;
  if (!starts_tag(at(1))) return say(U'<', 1);
  const auto comment = begins_with(0, U"<!--");
  if (comment.result == lookup::what::unknown) return false;
  if (comment.result == lookup::what::found) {
    const auto end = rest_.find(U"-->", 4);
    if (end != std::u32string::npos) return drop(end + 3);
    if (!over_ && rest_.size() < longest_tag) return false;
    return drop(4);
  }
  const auto end = find(1, U'>', longest_tag);
  if (end.result == lookup::what::unknown) return false;
  if (end.result == lookup::what::absent) return say(U'<', 1);
  const auto inside = std::u32string_view(rest_).substr(1, end.at - 1);
  if (inside.find(U"://") != std::u32string_view::npos) return say(std::u32string(host_of(inside)), end.at + 1);
  if (inside.find(U'@') != std::u32string_view::npos && inside.find(U' ') == std::u32string_view::npos)
    return say(std::u32string(inside), end.at + 1);
  if (breaks_line(inside)) break_block();
  return drop(end.at + 1);
}

bool speakable::entity() {
  const auto end = find(1, U';', longest_entity);
  if (end.result == lookup::what::unknown) {
    // "R&D and" need not wait: an entity is one word.
    const auto inside = std::u32string_view(rest_).substr(1);
    if (std::all_of(inside.begin(), inside.end(), [](char32_t c) { return is_word(c) || c == U'#'; })) return false;
    return say(U'&', 1);
  }
  if (end.result == lookup::what::found)
    if (const auto c = decode_entity(std::u32string_view(rest_).substr(1, end.at - 1))) return say(*c, end.at + 1);
  return say(U'&', 1);
}

/// A web address: its host is said. Marks at its end belong to the sentence.
bool speakable::address() {
  if (is_word(before_)) return say(at(0), 1);
  auto found = lookup{lookup::what::absent};
  for (const auto* start : {U"https://", U"http://", U"www."}) {
    const auto this_one = begins_with(0, start);
    if (this_one.result == lookup::what::unknown) return false;
    if (this_one.result == lookup::what::found) found = this_one;
  }
  if (found.result == lookup::what::absent) return say(at(0), 1);
  std::size_t end = found.at;
  std::size_t depth = 0;
  for (; end < longest_address; ++end) {
    if (!known(end)) return false;
    const char32_t c = at(end);
    if (is_space(c) || c == U'<' || c == U'>' || c == U'"' || c == U'`' || c == U'|' || c == U']' || c == U'*') break;
    if (c == U'(') ++depth;
    if (c == U')' && depth-- == 0) break;
  }
  skipping_token_ = end == longest_address;
  while (end > found.at && is_ascii_punctuation(at(end - 1)) && at(end - 1) != U'/') --end;
  return say(std::u32string(host_of(std::u32string_view(rest_).substr(0, end))), end);
}

/// An amount: the currency is said after the number, where speech has it.
bool speakable::currency() {
  if (!known(1)) return false;
  const char32_t sign = at(0);
  if (sign == U'$' && at(1) == U'$') return drop(2);
  if (sign == U'$' && open_dollar_) {
    open_dollar_ = false;
    return drop(1);
  }
  if (!is_digit(at(1))) {
    open_dollar_ = sign == U'$' && !is_space(at(1)) && !is_word(before_);
    return open_dollar_ ? drop(1) : say(sign, 1);
  }
  constexpr std::size_t longest_amount = 30;
  std::size_t end = 1;
  while (end < longest_amount && (is_digit(at(end)) || at(end) == U'.' || at(end) == U',')) ++end;
  if (!known(end)) return false;
  while (!is_digit(at(end - 1))) --end;
  for (const auto* scale : {U" thousand", U" million", U" billion", U" trillion"}) {
    const auto word = begins_with(end, scale);
    if (word.result == lookup::what::unknown) return false;
    if (word.result != lookup::what::found) continue;
    end = word.at;
    break;
  }
  return say(rest_.substr(1, end - 1) + U' ' + sign, end);
}

bool speakable::hyphens() {
  const auto end = past(0, U'-');
  if (!known(end)) return false;
  if (at(end) == U'>') return say(U", ", end + 1);
  if (end > 1) return say(U" – ", end);
  if (!is_space(before_) || !is_space(at(1))) return say(U'-', 1);
  auto next = std::size_t{1};
  while (next < longest_note && at(next) == U' ') ++next;
  if (!known(next)) return false;
  return say(is_digit(solid_) && is_digit(at(next)) ? U'−' : U'–', 1);
}

bool speakable::equals() {
  const auto end = past(0, U'=');
  if (!known(end)) return false;
  if (at(end) == U'>') return say(U", ", end + 1);
  return end == 1 ? say(U'=', 1) : drop(end);
}

bool speakable::full_stops() {
  const auto end = past(0, U'.');
  if (!known(end)) return false;
  if (end > 1) return say(U'…', end);
  if (!is_word(at(1))) space_ = false; // but not in "use .NET"
  return say(U'.', 1);
}

bool speakable::pipe() {
  if (!in_table_) return say(U' ', 1);
  std::size_t next = 1;
  while (next < longest_note && (at(next) == U' ' || at(next) == U'|')) ++next;
  if (!known(next)) return false;
  return at(next) == U'\n' || !block_has_text_ ? drop(next) : say(U", ", next);
}

bool speakable::number_sign() {
  if (!known(1)) return false;
  return is_word(before_) && !is_word(at(1)) ? say(U'#', 1) : drop(1); // C#
}

bool speakable::exclamation() {
  if (!known(1)) return false;
  if (at(1) == U'[') return drop(1); // an image, which is said like a link
  return before_ == U'!' ? drop(1) : say(U'!', 1);
}

} // namespace omni::text
