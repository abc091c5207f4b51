#include "kernels/text/jinja_format.hpp"

#include "kernels/text/jinja_print.hpp"
#include "kernels/text/jinja_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

namespace omni::text::jinja {
namespace {

constexpr int max_width = 1000;

/// One conversion of a % pattern.
struct conversion {
  bool left = false;  // '-'
  bool zeros = false; // '0'
  bool plus = false;  // '+'
  int width = 0;
  int precision = -1; // absent
  char type = 's';
};

std::string fixed_text(double of, int precision) {
  std::array<char, 512> digits{}; // a double has at most 309 digits before the point
  const auto [end, error] = std::to_chars(digits.data(), digits.data() + digits.size(), of, std::chars_format::fixed,
                                          std::min(precision, 100));
  return error == std::errc() ? std::string(digits.data(), end) : std::string();
}

class percent_formatter {
public:
  percent_formatter(render_limits& limits, marked_view pattern, const value& values)
      : limits_(limits), pattern_(pattern) {
    const auto* list = values.get_if<list_ref>();
    if (list != nullptr && (*list)->what == list_data::kind::tuple)
      values_ = (*list)->items;
    else
      values_ = {values};
  }

  value run() {
    limits_.charge(pattern_.size());
    while (at_ < pattern_.size()) {
      const std::size_t percent = std::min(pattern_.text.find('%', at_), pattern_.size());
      out_.append(pattern_.substr(at_, percent - at_));
      at_ = percent;
      if (at_ < pattern_.size()) convert();
    }
    return make_text(std::move(out_));
  }

private:
  char peek() { return at_ < pattern_.size() ? pattern_.text[at_] : '\0'; }

  int read_number() {
    int number = 0;
    for (; peek() >= '0' && peek() <= '9'; ++at_) number = std::min(number * 10 + (peek() - '0'), max_width);
    return number;
  }

  void convert() {
    const std::size_t begin = at_++;
    conversion how;
    for (; peek() == '-' || peek() == '0' || peek() == '+'; ++at_) {
      how.left = how.left || peek() == '-';
      how.zeros = how.zeros || peek() == '0';
      how.plus = how.plus || peek() == '+';
    }
    how.width = read_number();
    if (peek() == '.') {
      ++at_;
      how.precision = read_number();
    }
    how.type = peek();
    if (at_++ >= pattern_.size()) limits_.fail("a % pattern ends inside a place");
    if (how.type == '%') return out_.append(pattern_.substr(begin, 1));
    if (used_ == values_.size()) limits_.fail("a % pattern has more places than values");
    append_padded(converted(values_[used_++], how), how);
  }

  marked_text converted(const value& of, const conversion& how) {
    marked_text text;
    if (how.type == 's') {
      append_str(limits_, text, of);
    } else if (how.type == 'r') {
      append_repr(limits_, text, of);
    } else {
      const auto number = as_number(of);
      if (!number) limits_.fail(std::string("%") + how.type + " needs a number, not " + type_name(of));
      text.append(number_text(of, *number, how), false);
      return text;
    }
    if (how.precision < 0) return text;
    return marked_text(text.view().substr(0, byte_of_character(text.text(), static_cast<std::size_t>(how.precision))));
  }

  std::string number_text(const value& of, double number, const conversion& how) {
    const std::string sign = how.plus && number >= 0 ? "+" : "";
    if (how.type == 'f' || how.type == 'F') return sign + fixed_text(number, how.precision < 0 ? 6 : how.precision);
    const bool hexadecimal = how.type == 'x' || how.type == 'X';
    if (how.type != 'd' && how.type != 'i' && !hexadecimal)
      limits_.fail(std::string("%") + how.type + " is not supported");
    if (!(std::abs(number) < 9e18)) limits_.fail("a number is too large to format");
    const std::int64_t whole = as_integer(of).value_or(static_cast<std::int64_t>(number));
    std::array<char, 80> digits{};
    const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), whole, hexadecimal ? 16 : 10).ptr;
    std::string text(digits.data(), end);
    if (how.type == 'X')
      std::transform(text.begin(), text.end(), text.begin(),
                     [](char c) { return c >= 'a' ? static_cast<char>(c - 32) : c; });
    return sign + text;
  }

  void append_padded(const marked_text& text, const conversion& how) {
    const std::size_t size = count_characters(text.text());
    const std::size_t missing =
        static_cast<std::size_t>(how.width) - std::min(size, static_cast<std::size_t>(how.width));
    limits_.charge_bytes(text.size() + missing);
    const bool zeros = how.zeros && !how.left && how.type != 's' && how.type != 'r';
    const std::size_t sign = zeros && !text.empty() && (text.text()[0] == '-' || text.text()[0] == '+') ? 1 : 0;
    out_.append(text.view().substr(0, sign));
    if (!how.left) out_.append(std::string(missing, zeros ? '0' : ' '), false);
    out_.append(text.view().substr(sign));
    if (how.left) out_.append(std::string(missing, ' '), false);
  }

  render_limits& limits_;
  marked_view pattern_;
  std::vector<value> values_;
  std::size_t used_ = 0;
  std::size_t at_ = 0;
  marked_text out_;
};

const value* field_of(const arguments& given, std::string_view name, std::size_t& next) {
  std::size_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  const bool is_number = !name.empty() && error == std::errc() && end == name.data() + name.size();
  if (name.empty()) index = next++;
  if (name.empty() || is_number) return index < given.positional.size() ? &given.positional[index] : nullptr;
  for (const auto& [key, item] : given.named)
    if (key == name) return &item;
  return nullptr;
}

} // namespace

value format_percent(render_limits& limits, marked_view pattern, const value& values) {
  return percent_formatter(limits, pattern, values).run();
}

value format_braces(render_limits& limits, marked_view pattern, const arguments& given) {
  limits.charge(pattern.size());
  marked_text out;
  std::size_t next = 0;
  for (std::size_t at = 0; at < pattern.size();) {
    const std::size_t brace = std::min(pattern.text.find_first_of("{}", at), pattern.size());
    out.append(pattern.substr(at, brace - at));
    at = brace;
    if (at == pattern.size()) break;
    if (at + 1 < pattern.size() && pattern.text[at + 1] == pattern.text[at]) { // a doubled brace is one
      out.append(pattern.substr(at, 1));
      at += 2;
      continue;
    }
    const std::size_t close = pattern.text[at] == '{' ? pattern.text.find('}', at) : std::string_view::npos;
    if (close == std::string_view::npos) limits.fail("a format pattern has a single brace");
    const std::string_view name = pattern.text.substr(at + 1, close - at - 1);
    const value* field = field_of(given, name, next);
    if (field == nullptr) limits.fail("a format pattern has no value for {" + std::string(name) + "}");
    append_str(limits, out, *field);
    at = close + 1;
  }
  return make_text(std::move(out));
}

value replace_text(render_limits& limits, marked_view text, marked_view old, marked_view by, std::int64_t count) {
  limits.charge_search(2 * text.size(), old.size());
  const std::size_t places = count_of(text.text, old.text);
  const std::size_t limit = count < 0 ? places : std::min(places, static_cast<std::size_t>(count));
  limits.charge_bytes(text.size() + limit * by.size());
  return make_text(replaced(text, old.text, by, limit));
}

} // namespace omni::text::jinja
