#include "kernels/text/jinja_lexer.hpp"

#include "kernels/core/error.hpp"
#include "kernels/text/jinja_text.hpp"
#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <array>

namespace omni::text::jinja {
namespace {

using kind = token::kind;

/// All line ends become \n; one at the very end goes away.
std::string with_plain_newlines(std::string_view source) {
  std::string out;
  out.reserve(source.size());
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] != '\r') {
      out += source[i];
    } else {
      out += '\n';
      if (i + 1 < source.size() && source[i + 1] == '\n') ++i;
    }
  }
  if (out.ends_with('\n')) out.pop_back();
  return out;
}

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_name_start(char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & '\x80') != 0; }
bool is_name_part(char c) { return is_name_start(c) || is_digit(c); }

/// The longest operators first.
constexpr std::array<std::string_view, 27> operators = {"//", "**", "==", "!=", ">=", "<=", "+", "-", "/",
                                                        "*",  "%",  "~",  "[",  "]",  "(",  ")", "{", "}",
                                                        ">",  "<",  "=",  ".",  ":",  "|",  ",", ";", "!"};

class lexer {
public:
  lexer(std::string_view source, const std::string& where) : source_(with_plain_newlines(source)), where_(where) {}

  std::vector<token> run() {
    while (at_ < source_.size()) read_data_and_tag();
    add(kind::end, "");
    return std::move(tokens_);
  }

private:
  [[noreturn]] void fail(const std::string& what) const {
    throw load_error(where_ + ", line " + std::to_string(line_) + ": " + what + "; correct the chat template.");
  }

  [[nodiscard]] std::string_view rest() const { return std::string_view(source_).substr(at_); }
  [[nodiscard]] bool at(std::string_view text) const { return rest().starts_with(text); }

  void add(kind what, std::string text) { tokens_.push_back({what, std::move(text), line_}); }

  /// Moves on by `count` bytes.
  void skip(std::size_t count) {
    line_ += static_cast<int>(std::count(source_.begin() + static_cast<std::ptrdiff_t>(at_),
                                         source_.begin() + static_cast<std::ptrdiff_t>(at_ + count), '\n'));
    at_ += count;
  }

  void skip_white_space() { skip(rest().size() - without_white_space(rest(), true, false).size()); }

  /// Moves behind the end of a tag, whose delimiter is next, and the white space that goes with it.
  void end_tag(std::size_t delimiter_bytes, bool strip, bool trim_newline) {
    const std::size_t begin = at_;
    skip(delimiter_bytes);
    if (strip)
      skip_white_space();
    else if (trim_newline && at("\n"))
      skip(1);
    line_starting_ = at_ > begin && source_[at_ - 1] == '\n';
  }

  /// The text before a tag at `begin`: all white space off its end for `-`, the indentation of a block tag otherwise.
  std::string_view data_before(std::size_t begin, char sign, bool is_block) const {
    std::string_view data = std::string_view(source_).substr(at_, begin - at_);
    if (sign == '-') return without_white_space(data, false, true);
    if (sign == '+' || !is_block) return data;
    const std::size_t newline = data.rfind('\n');
    if (newline == std::string_view::npos && !line_starting_) return data;
    const std::size_t line = newline == std::string_view::npos ? 0 : newline + 1;
    return without_white_space(data.substr(line), true, true).empty() ? data.substr(0, line) : data;
  }

  [[nodiscard]] std::size_t next_tag() const {
    constexpr std::string_view types = "{%#";
    std::size_t begin = source_.find('{', at_);
    while (begin != std::string::npos &&
           (begin + 1 == source_.size() || types.find(source_[begin + 1]) == std::string::npos))
      begin = source_.find('{', begin + 1);
    return begin;
  }

  void read_data_and_tag() {
    const std::size_t begin = next_tag();
    if (begin == std::string::npos) {
      add(kind::data, std::string(rest()));
      return skip(rest().size());
    }
    const char type = source_[begin + 1];
    const char sign = begin + 2 < source_.size() ? source_[begin + 2] : ' ';
    if (const std::string_view data = data_before(begin, sign, type != '{'); !data.empty())
      add(kind::data, std::string(data));
    skip(begin - at_);
    line_starting_ = false;
    const std::size_t opening = sign == '-' || sign == '+' ? 3 : 2;
    if (type == '#') return read_comment(opening);
    if (type == '%' && read_raw(opening)) return;
    add(type == '{' ? kind::print_begin : kind::block_begin, "");
    skip(opening);
    while (!read_tag_end(type)) read_expression_token();
  }

  void read_comment(std::size_t opening) {
    const std::size_t end = source_.find("#}", at_ + opening);
    if (end == std::string::npos) fail("a comment is not closed");
    const char sign = end > at_ + opening ? source_[end - 1] : ' ';
    skip(end - at_);
    end_tag(2, sign == '-', sign != '+');
  }

  /// Reads `{% raw %} ... {% endraw %}` if it stands here.
  bool read_raw(std::size_t opening) {
    std::size_t end = tag_named("raw", at_, opening);
    if (end == std::string::npos) return false;
    const bool strip = source_[end - 3] == '-';
    skip(end - 2 - at_);
    end_tag(2, strip, false);
    for (std::size_t close = source_.find("{%", at_); close != std::string::npos;
         close = source_.find("{%", close + 2)) {
      const char sign = close + 2 < source_.size() ? source_[close + 2] : ' ';
      end = tag_named("endraw", close, sign == '-' || sign == '+' ? 3 : 2);
      if (end == std::string::npos) continue;
      if (const std::string_view data = data_before(close, sign, true); !data.empty())
        add(kind::data, std::string(data));
      const char end_sign = source_[end - 3];
      skip(end - 2 - at_);
      end_tag(2, end_sign == '-', end_sign != '+');
      return true;
    }
    fail("a raw block is not closed");
  }

  /// The end of the tag at `begin` if it holds nothing but `name`, else npos.
  [[nodiscard]] std::size_t tag_named(std::string_view name, std::size_t begin, std::size_t opening) const {
    std::string_view inside = std::string_view(source_).substr(begin + opening);
    inside = without_white_space(inside, true, false);
    if (!inside.starts_with(name)) return std::string::npos;
    inside = without_white_space(inside.substr(name.size()), true, false);
    if (inside.starts_with('-') || inside.starts_with('+')) inside.remove_prefix(1);
    return inside.starts_with("%}") ? source_.size() - inside.size() + 2 : std::string::npos;
  }

  /// Ends the tag if its end stands here; brackets must be closed before.
  bool read_tag_end(char type) {
    skip_white_space();
    if (at_ >= source_.size()) fail(type == '{' ? "a {{ is not closed" : "a {% is not closed");
    if (!open_.empty()) return false;
    const std::string_view closing = type == '{' ? "}}" : "%}";
    const bool strip = at("-") && rest().substr(1).starts_with(closing);
    const bool keep = type == '%' && at("+") && rest().substr(1).starts_with(closing);
    if (!strip && !keep && !at(closing)) return false;
    add(type == '{' ? kind::print_end : kind::block_end, "");
    end_tag(strip || keep ? 3 : 2, strip, type == '%' && !keep);
    return true;
  }

  void read_expression_token() {
    const char c = source_[at_];
    if (is_digit(c)) return read_number();
    if (c == '\'' || c == '"') return read_string(c);
    if (is_name_start(c)) {
      std::size_t end = at_;
      while (end < source_.size() && is_name_part(source_[end])) ++end;
      add(kind::name, source_.substr(at_, end - at_));
      return skip(end - at_);
    }
    const auto* found = std::find_if(operators.begin(), operators.end(), [&](std::string_view op) { return at(op); });
    if (found == operators.end()) fail("'" + std::string(1, c) + "' is not expected here");
    track_brackets(c);
    add(kind::op, std::string(*found));
    skip(found->size());
  }

  void track_brackets(char c) {
    if (c == '(' || c == '[' || c == '{') open_ += c == '(' ? ')' : c == '[' ? ']' : '}';
    if (c != ')' && c != ']' && c != '}') return;
    if (open_.empty() || open_.back() != c) fail("'" + std::string(1, c) + "' closes nothing");
    open_.pop_back();
  }

  void read_number() {
    std::string digits;
    std::size_t end = at_;
    const auto take_digits = [&] {
      for (; end < source_.size() && (is_digit(source_[end]) || source_[end] == '_'); ++end)
        if (source_[end] != '_') digits += source_[end];
    };
    const auto digit_at = [&](std::size_t where) { return where < source_.size() && is_digit(source_[where]); };
    take_digits();
    bool real = false;
    if (end < source_.size() && source_[end] == '.' && digit_at(end + 1)) {
      real = true;
      digits += source_[end++];
      take_digits();
    }
    if (end < source_.size() && (source_[end] == 'e' || source_[end] == 'E')) {
      const bool sign = end + 1 < source_.size() && (source_[end + 1] == '+' || source_[end + 1] == '-');
      if (digit_at(end + (sign ? 2 : 1))) {
        real = true;
        digits += 'e';
        if (sign) digits += source_[end + 1];
        end += sign ? 2 : 1;
        take_digits();
      }
    }
    add(real ? kind::real : kind::integer, std::move(digits));
    skip(end - at_);
  }

  void read_string(char quote) {
    std::size_t end = at_ + 1;
    while (end < source_.size() && source_[end] != quote) end += source_[end] == '\\' ? 2 : 1;
    if (end >= source_.size()) fail("a string is not closed");
    add(kind::string, unescaped(std::string_view(source_).substr(at_ + 1, end - at_ - 1)));
    skip(end + 1 - at_);
  }

  /// Python's escapes.
  std::string unescaped(std::string_view text) {
    static constexpr std::string_view letters = "abfnrtv\\'\"";
    static constexpr std::string_view meanings = "\a\b\f\n\r\t\v\\'\"";
    std::string out;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] != '\\' || i + 1 == text.size()) {
        out += text[i];
        continue;
      }
      const char c = text[++i];
      if (const std::size_t known = letters.find(c); known != std::string_view::npos) {
        out += meanings[known];
      } else if (c == 'x' || c == 'u' || c == 'U') {
        const std::size_t digits = c == 'x' ? 2 : c == 'u' ? 4 : 8;
        append_code(out, text.substr(i + 1, digits), digits, 16);
        i += digits;
      } else if (c >= '0' && c <= '7') {
        std::size_t digits = 1;
        while (digits < 3 && i + digits < text.size() && text[i + digits] >= '0' && text[i + digits] <= '7') ++digits;
        append_code(out, text.substr(i, digits), digits, 8);
        i += digits - 1;
      } else if (c != '\n') { // a line that ends in a backslash goes on
        out.append({'\\', c});
      }
    }
    return out;
  }

  void append_code(std::string& out, std::string_view digits, std::size_t wanted, unsigned base) const {
    char32_t code = 0;
    for (const char c : digits) {
      const char lower = static_cast<char>(c | 0x20);
      const bool letter = base == 16 && lower >= 'a' && lower <= 'f';
      if (!is_digit(c) && !letter) fail("a string holds a broken escape");
      code = code * base + static_cast<char32_t>(letter ? lower - 'a' + 10 : c - '0');
    }
    if (digits.size() != wanted || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF))
      fail("a string holds a broken escape");
    append_utf8(out, code);
  }

  std::string source_;
  const std::string& where_;
  std::vector<token> tokens_;
  std::size_t at_ = 0;
  int line_ = 1;
  bool line_starting_ = true; // what was read last ended a line
  std::string open_;          // closing brackets that are awaited
};

} // namespace

std::vector<token> tokenize(std::string_view source, const std::string& where) { return lexer(source, where).run(); }

} // namespace omni::text::jinja
