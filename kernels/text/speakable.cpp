#include "kernels/text/speakable.hpp"

#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <utility>

namespace omni::text {
namespace {

constexpr std::size_t longest_marker = 120; // characters that are held back to judge how a line begins

bool is_blank(char32_t c) { return c == U' ' || c == U'\t' || c == U'\u00A0'; }
bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

} // namespace

std::string speakable::push(std::string_view markdown) {
  bytes_ += markdown;
  std::string whole;
  bytes_.erase(0, append_whole_characters(whole, bytes_));
  for (std::string_view text = whole; !text.empty();) {
    const auto character = read_utf8(text);
    text.remove_prefix(character.size);
    if (character.code == U'\r') continue;
    rest_ += character.code;
    run();
  }
  return std::exchange(said_, {});
}

std::string speakable::finish() {
  over_ = true;
  if (!bytes_.empty()) rest_ += U'\uFFFD';
  run();
  return std::exchange(said_, {});
}

void speakable::run() {
  while (!rest_.empty() && step()) {}
}

bool speakable::step() {
  if (skipping_line_ || skipping_token_) {
    const char32_t c = at(0);
    const bool ends = c == U'\n' || (skipping_token_ && !skipping_line_ && is_blank(c));
    if (!ends) return drop(1);
    skipping_token_ = false;
    if (!skipping_line_) return true;
    skipping_line_ = false;
    at_line_start_ = true;
    return drop(1);
  }
  if (fence_length_ > 0) return step_in_fence();
  if (at_line_start_) return step_line_start();
  return step_inline();
}

// -- blocks -----------------------------------------------------------------------------------------------------------

/// Code is not said; a line of at least as many fence marks as opened it ends it.
bool speakable::step_in_fence() {
  std::size_t mark = 0;
  while (is_blank(at(mark)) && mark < longest_marker) ++mark;
  const auto end = past(mark, fence_mark_);
  auto line_end = end;
  while (line_end < longest_marker && is_blank(at(line_end))) ++line_end;
  if (!known(line_end)) return false;
  if (end - mark >= fence_length_ && at(line_end) == U'\n') {
    fence_length_ = 0;
    at_line_start_ = true;
    return drop(std::min(line_end + 1, rest_.size()));
  }
  skipping_line_ = true;
  return true;
}

bool speakable::step_line_start() {
  std::size_t i = 0;
  while (is_blank(at(i)) && i < longest_marker) ++i;
  if (!known(i)) return false;
  switch (const char32_t c = at(i)) {
  case U'\n': // an empty line ends all that was open
    break_block();
    open_brackets_ = code_ticks_ = 0;
    open_dollar_ = false;
    return drop(std::min(i + 1, rest_.size()));
  case U'>':
    return drop(i + 1); // a quotation; what follows begins a line of its own
  case U'#':
    return start_heading(i);
  case U'`':
    return start_fence(i);
  case U'~':
    return start_fence(i);
  case U'-':
  case U'*':
  case U'+':
  case U'_':
  case U'=':
  case U'•':
    return start_marked_line(i);
  case U'|':
    return start_table_row(i);
  case U'[':
    return start_definition(i);
  default:
    if (is_digit(c)) return start_numbered_item(i);
    begin_text(i, false);
    return true;
  }
}

/// Text of a line begins after `consumed` characters; a new block is apart from what was said before.
void speakable::begin_text(std::size_t consumed, bool new_block) {
  if (new_block) break_block();
  drop(consumed);
  before_ = U'\n';
  at_line_start_ = false;
}

bool speakable::start_heading(std::size_t i) {
  const auto end = past(i, U'#');
  if (!known(end)) return false;
  const bool heading = end - i <= 6 && (is_blank(at(end)) || at(end) == U'\n');
  begin_text(heading ? end : i, heading);
  in_heading_ = heading;
  return true;
}

bool speakable::start_fence(std::size_t i) {
  const char32_t mark = at(i);
  const auto end = past(i, mark);
  if (!known(end)) return false;
  if (end - i < 3) {
    begin_text(i, false);
    return true;
  }
  // The rest of the line names the language; a backtick in it means inline code.
  for (auto k = end; k < end + longest_marker; ++k) {
    if (!known(k)) return false;
    if (at(k) == U'`' && mark == U'`') {
      begin_text(i, false);
      return true;
    }
    if (at(k) == U'\n') break;
  }
  break_block();
  fence_mark_ = mark;
  fence_length_ = end - i;
  skipping_line_ = true;
  return drop(end);
}

/// A bullet, a rule (three marks or more and nothing else), an underline of a heading, or emphasis.
bool speakable::start_marked_line(std::size_t i) {
  const char32_t mark = at(i);
  std::size_t marks = 0;
  auto k = i;
  for (; k < i + longest_marker && (at(k) == mark || is_blank(at(k))); ++k) marks += at(k) == mark ? 1 : 0;
  if (!known(k)) return false;
  const bool rule = at(k) == U'\n' && (marks >= 3 || mark == U'=') && mark != U'+' && mark != U'•';
  if (rule) {
    break_block();
    return drop(std::min(k + 1, rest_.size()));
  }
  const bool bullet = mark != U'_' && mark != U'=' && is_blank(at(i + 1));
  if (!bullet) {
    begin_text(i, false);
    return true;
  }
  if (at(k) != U'[') {
    begin_text(i + 2, true);
    return true;
  }
  if (!known(k + 3)) return false;
  const bool task = at(k + 2) == U']' && (at(k + 1) == U' ' || at(k + 1) == U'x' || at(k + 1) == U'X');
  begin_text(task ? k + 3 : i + 2, true);
  return true;
}

bool speakable::start_numbered_item(std::size_t i) {
  auto end = i;
  while (is_digit(at(end)) && end - i <= 9) ++end;
  if (!known(end + 1)) return false;
  const bool item = end - i <= 9 && (at(end) == U'.' || at(end) == U')') && is_blank(at(end + 1));
  begin_text(i, item);
  if (item) {
    const std::u32string number = rest_.substr(0, end - i) + U": ";
    say(number, end - i + 2);
  }
  return true;
}

bool speakable::start_table_row(std::size_t i) {
  auto k = i;
  while (k < i + longest_marker && (at(k) == U'|' || at(k) == U'-' || at(k) == U':' || is_blank(at(k)))) ++k;
  if (!known(k)) return false;
  if (at(k) == U'\n') return drop(std::min(k + 1, rest_.size())); // the line under the head of a table
  begin_text(i + 1, true);
  in_table_ = true;
  return true;
}

/// "[id]: address" is not said, of "[^id]: text" only the text.
bool speakable::start_definition(std::size_t i) {
  const auto end = find(i, U']', longest_marker);
  if (end.result == lookup::what::unknown) return false;
  const bool closed = end.result == lookup::what::found;
  if (closed && !known(end.at + 1)) return false;
  const bool definition = closed && at(end.at + 1) == U':' && at(i + 1) != U'[';
  if (definition && at(i + 1) != U'^') {
    skipping_line_ = true;
    return true;
  }
  begin_text(definition ? end.at + 2 : i, definition);
  return true;
}

// -- reading and writing ----------------------------------------------------------------------------------------------

std::size_t speakable::past(std::size_t from, char32_t c) const {
  while (from < rest_.size() && rest_[from] == c) ++from;
  return from;
}

speakable::lookup speakable::find(std::size_t from, char32_t c, std::size_t limit) const {
  for (auto i = from; i < from + limit; ++i) {
    if (!known(i)) return {lookup::what::unknown};
    if (at(i) == c) return {lookup::what::found, i};
    if (at(i) == U'\n') break;
  }
  return {lookup::what::absent};
}

speakable::lookup speakable::begins_with(std::size_t from, std::u32string_view word) const {
  for (std::size_t i = 0; i < word.size(); ++i) {
    if (!known(from + i)) return {lookup::what::unknown};
    const char32_t c = at(from + i);
    if ((c >= U'A' && c <= U'Z' ? c + 32 : c) != word[i]) return {lookup::what::absent};
  }
  return {lookup::what::found, from + word.size()};
}

bool speakable::drop(std::size_t count) {
  if (count > 0) before_ = rest_[count - 1];
  rest_.erase(0, count);
  return true;
}

bool speakable::say(char32_t c, std::size_t consumed) { return say(std::u32string_view(&c, 1), consumed); }

bool speakable::say(std::u32string_view text, std::size_t consumed) {
  for (const char32_t c : text) {
    if (is_white_space(c)) {
      space_ = true;
      continue;
    }
    // Silent pictures and markers leave spaces in front of marks.
    const bool attached = c == U'…' || c == U',' || c == U';' || c == U':' || c == U'!' || c == U'?';
    if (std::exchange(space_, false) && block_has_text_ && !attached) said_ += ' ';
    append_utf8(said_, c);
    solid_ = c;
    block_has_text_ = true;
  }
  drop(consumed);
  if (!text.empty()) before_ = text.back();
  return true;
}

void speakable::break_block() {
  if (std::exchange(block_has_text_, false)) said_ += '\n';
  in_heading_ = in_table_ = space_ = false;
}

} // namespace omni::text
