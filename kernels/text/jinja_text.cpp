#include "kernels/text/jinja_text.hpp"

#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <utf8proc.h>

namespace omni::text::jinja {
namespace {

/// Start of the last character.
std::size_t last_character(std::string_view text) {
  std::size_t at = text.size() - 1;
  while (at > 0 && !starts_character(text[at])) --at;
  return at;
}

template <class Unwanted>
std::string_view stripped(std::string_view text, Unwanted unwanted, bool left, bool right) {
  while (left && !text.empty()) {
    const utf8_step step = read_utf8(text);
    if (!unwanted(text.substr(0, step.size), step.code)) break;
    text.remove_prefix(step.size);
  }
  while (right && !text.empty()) {
    const std::string_view last = text.substr(last_character(text));
    if (!unwanted(last, read_utf8(last).code)) break;
    text.remove_suffix(last.size());
  }
  return text;
}

bool is_line_end(char32_t code) {
  return (code >= 0x0A && code <= 0x0D) || (code >= 0x1C && code <= 0x1E) || code == 0x85 || code == 0x2028 ||
         code == 0x2029;
}

bool is_cased(char32_t code) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(code));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LL || category == UTF8PROC_CATEGORY_LT;
}

void append_in_case(marked_text& out, marked_view character, letter_case to) {
  const auto code = static_cast<utf8proc_int32_t>(read_utf8(character.text).code);
  std::string changed;
  if (to == letter_case::upper && code == 0xDF)
    changed = "SS"; // the one common letter whose upper form is two
  else
    append_utf8(changed,
                static_cast<char32_t>(to == letter_case::upper ? utf8proc_toupper(code) : utf8proc_tolower(code)));
  out.append(changed, character.has_mark());
}

/// Calls `f` with each character of `text`.
template <class F>
void for_each_character(marked_view text, F f) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t size = utf8_size(text.text[at]);
    f(text.substr(at, size));
    at += size;
  }
}

} // namespace

bool is_python_space(char32_t code) { return is_white_space(code) || (code >= 0x1C && code <= 0x1F); }

std::string_view without_white_space(std::string_view text, bool left, bool right) {
  return stripped(
      text, [](std::string_view, char32_t code) { return is_python_space(code); }, left, right);
}

std::string_view without_characters(std::string_view text, std::string_view characters, bool left, bool right) {
  const auto unwanted = [&](std::string_view character, char32_t) {
    return characters.find(character) != std::string_view::npos;
  };
  return stripped(text, unwanted, left, right);
}

marked_view part_of(marked_view whole, std::string_view part) {
  return whole.substr(static_cast<std::size_t>(part.data() - whole.text.data()), part.size());
}

std::size_t count_characters(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), starts_character));
}

std::size_t byte_of_character(std::string_view text, std::size_t index) {
  std::size_t at = 0;
  for (; index > 0 && at < text.size(); --index) at += utf8_size(text[at]);
  return std::min(at, text.size());
}

std::vector<marked_view> split_at(marked_view text, std::string_view separator, std::size_t limit, bool from_right) {
  std::vector<marked_view> parts;
  for (; parts.size() < limit;) {
    const std::size_t found = from_right ? text.text.rfind(separator) : text.text.find(separator);
    if (found == std::string_view::npos) break;
    const std::size_t behind = found + separator.size();
    parts.push_back(from_right ? text.substr(behind) : text.substr(0, found));
    text = from_right ? text.substr(0, found) : text.substr(behind);
  }
  parts.push_back(text);
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<marked_view> split_at_spaces(marked_view text, std::size_t limit, bool from_right) {
  std::vector<marked_view> parts;
  const auto trimmed = [&] { return part_of(text, without_white_space(text.text, !from_right, from_right)); };
  for (text = trimmed(); !text.empty(); text = trimmed()) {
    if (parts.size() == limit) {
      parts.push_back(text);
      break;
    }
    std::string_view rest = text.text;
    const auto in_word = [](std::string_view, char32_t code) { return !is_python_space(code); };
    rest = stripped(rest, in_word, !from_right, from_right);
    const std::size_t size = text.size() - rest.size();
    parts.push_back(from_right ? text.substr(rest.size()) : text.substr(0, size));
    text = part_of(text, rest);
  }
  if (from_right) std::reverse(parts.begin(), parts.end());
  return parts;
}

std::vector<marked_view> split_lines(marked_view text, bool keep_ends) {
  std::vector<marked_view> lines;
  std::size_t begin = 0;
  for (std::size_t at = 0; at < text.size();) {
    const utf8_step step = read_utf8(text.text.substr(at));
    const std::size_t end = at;
    at += step.size;
    if (!is_line_end(step.code)) continue;
    if (step.code == '\r' && at < text.size() && text.text[at] == '\n') ++at;
    lines.push_back(text.substr(begin, (keep_ends ? at : end) - begin));
    begin = at;
  }
  if (begin < text.size()) lines.push_back(text.substr(begin));
  return lines;
}

marked_text replaced(marked_view text, std::string_view old, marked_view by, std::size_t limit) {
  marked_text out;
  std::size_t done = 0;
  for (std::size_t count = 0, from = 0; count < limit; ++count) {
    const std::size_t found = text.text.find(old, from);
    if (found == std::string_view::npos) break;
    out.append(text.substr(done, found - done));
    out.append(by);
    done = found + old.size();
    from = done;
    if (!old.empty()) continue;
    if (found == text.size()) break;
    from = found + utf8_size(text.text[found]);
  }
  out.append(text.substr(done));
  return out;
}

std::size_t count_of(std::string_view text, std::string_view part) {
  if (part.empty()) return count_characters(text) + 1;
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

marked_text in_case(marked_view text, letter_case to) {
  marked_text out;
  out.reserve(text.size());
  for_each_character(text, [&](marked_view character) { append_in_case(out, character, to); });
  return out;
}

marked_text capitalized(marked_view text) {
  marked_text out;
  for_each_character(text, [&](marked_view character) {
    append_in_case(out, character, out.empty() ? letter_case::upper : letter_case::lower);
  });
  return out;
}

marked_text in_title_case(marked_view text) {
  marked_text out;
  bool in_word = false;
  for_each_character(text, [&](marked_view character) {
    append_in_case(out, character, in_word ? letter_case::lower : letter_case::upper);
    in_word = is_cased(read_utf8(character.text).code);
  });
  return out;
}

} // namespace omni::text::jinja
