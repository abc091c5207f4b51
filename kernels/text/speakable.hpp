#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace omni::text {

/// Turns a growing text meant for reading, Markdown above all, into what a person would say. What it gives out depends
/// on the text alone, never on how it came in pieces; a mark whose meaning is still open (a link, a fence) is held
/// back.
///
/// Language neutral: it adds no words, since voices speak many languages, and leaves to the phonemizer what that reads
/// well (digits, %, =, dates). Paragraphs, headings, list items and table rows end with a newline; other line ends are
/// spaces.
///   code blocks, rules, HTML tags and comments, emoji, footnote marks, link targets   are not said
///   emphasis, headings, quotes, inline code, brackets                                 their text
///   "1." of a list                                                                    "1:"
///   table row                                                                         its cells, with commas
///   https://www.example.com/a/b                                                       example.com
///   $5.50, $2 million                                                                 5.50 $, 2 million $
///   2 * 3, ~5, a -> b, ..., !!!                                                       2 × 3, ≈5, a, b, …, !
/// "[[ phonemes ]]" passes unchanged: it is for the phonemizer.
class speakable {
public:
  /// Takes the next bytes (UTF-8, cut anywhere; invalid bytes become U+FFFD); returns what can be said now.
  std::string push(std::string_view markdown);
  /// The text is over; returns the rest.
  std::string finish();

private:
  struct lookup {
    enum class what : std::uint8_t { found, absent, unknown } result;
    std::size_t at = 0;
  };

  void run();
  /// Handles what stands at the front of `rest_`; false when its meaning depends on text that has not come yet.
  bool step();

  // Blocks (speakable.cpp).
  bool step_in_fence();
  bool step_line_start();
  bool start_fence(std::size_t at);
  bool start_heading(std::size_t at);
  bool start_marked_line(std::size_t at);
  bool start_numbered_item(std::size_t at);
  bool start_table_row(std::size_t at);
  bool start_definition(std::size_t at);
  void begin_text(std::size_t consumed, bool new_block);

  // Within a line (speakable_inline.cpp).
  bool step_inline();
  bool end_line();
  bool escape();
  bool asterisks();
  bool underscores();
  bool tildes();
  bool backticks();
  bool open_bracket();
  bool close_bracket();
  bool angle_bracket();
  bool entity();
  bool address();
  bool currency();
  bool hyphens();
  bool equals();
  bool full_stops();
  bool pipe();
  bool number_sign();
  bool exclamation();

  // Reading `rest_`.
  [[nodiscard]] bool known(std::size_t i) const { return i < rest_.size() || over_; }
  /// The character, a newline past the end of the text.
  [[nodiscard]] char32_t at(std::size_t i) const { return i < rest_.size() ? rest_[i] : U'\n'; }
  /// The first position from `from` on that is not `c`.
  [[nodiscard]] std::size_t past(std::size_t from, char32_t c) const;
  /// Where `c` stands on this line, at most `limit` characters on.
  [[nodiscard]] lookup find(std::size_t from, char32_t c, std::size_t limit) const;
  /// Whether the rest of the line begins with `word`, whatever its case.
  [[nodiscard]] lookup begins_with(std::size_t from, std::u32string_view word) const;

  // Writing.
  bool drop(std::size_t count);
  bool say(char32_t c, std::size_t consumed);
  bool say(std::u32string_view text, std::size_t consumed);
  void break_block();

  std::string bytes_;   // of a character that has not come whole
  std::u32string rest_; // not handled yet
  bool over_ = false;
  std::string said_; // to give out

  bool at_line_start_ = true;
  bool in_heading_ = false;
  bool in_table_ = false;
  bool block_has_text_ = false; // something was said since the last newline
  bool space_ = false;          // white space to say before the next character, unless that is a mark
  std::size_t open_brackets_ = 0;
  bool open_dollar_ = false;     // of mathematics between dollars
  std::size_t code_ticks_ = 0;   // length of the run of backticks that opened inline code; 0 outside
  std::size_t fence_length_ = 0; // 0 outside of a code block
  char32_t fence_mark_ = 0;
  bool skipping_line_ = false;  // the rest of the line is not said
  bool skipping_token_ = false; // the rest up to white space is not said
  char32_t before_ = U'\n';     // the character handled last
  char32_t solid_ = 0;          // the last one said that is no white space
};

} // namespace omni::text
