#include "metrics/text_format.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>

namespace omni {
namespace {

std::string_view kind_name(family_kind kind) {
  switch (kind) {
  case family_kind::counter:
    return "counter";
  case family_kind::gauge:
    return "gauge";
  case family_kind::histogram:
    return "histogram";
  case family_kind::summary:
    return "summary";
  }
  return "untyped";
}

std::string escaped(std::string_view text, bool quotes) {
  std::string out;
  out.reserve(text.size());
  for (const char c : text) {
    if (c == '\\' || (quotes && c == '"')) out += '\\';
    if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
  return out;
}

// A counter's `_created` line is named without its suffix; a histogram keeps its whole name.
std::string created_name(const family& which) {
  std::string_view base = which.name;
  constexpr std::string_view suffix = "_total";
  if (which.kind == family_kind::counter && base.ends_with(suffix)) base.remove_suffix(suffix.size());
  return std::string(base) + "_created";
}

std::string head(std::string_view name, std::string_view help, std::string_view kind) {
  std::string out;
  out.append("# HELP ").append(name).append(" ").append(escaped(help, false));
  out.append("\n# TYPE ").append(name).append(" ").append(kind).append("\n");
  return out;
}

// `labels` must be sorted.
std::string braced(const label_set& labels) {
  if (labels.empty()) return "";
  std::string out = "{";
  for (const auto& [name, value] : labels) {
    if (out.size() > 1) out += ',';
    out.append(name).append("=\"").append(escaped(value, true)).append("\"");
  }
  return out + "}";
}

// Digits d0 d1 d2 ... and exponent of d0.d1d2... x 10^exponent.
struct decimal {
  std::string digits;
  int exponent = 0;
};

decimal shortest_digits(double magnitude) {
  std::array<char, 32> buffer;
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), magnitude, std::chars_format::scientific);
  const std::string_view text(buffer.data(), std::size_t(end.ptr - buffer.data()));
  const std::size_t e = text.find('e');
  decimal out;
  for (const char c : text.substr(0, e))
    if (c != '.') out.digits += c;
  const char* exponent = text.data() + e + 1;
  if (*exponent == '+') ++exponent;
  std::from_chars(exponent, text.data() + text.size(), out.exponent);
  return out;
}

void append_with_exponent(std::string& to, const decimal& number) {
  to += number.digits[0];
  if (number.digits.size() > 1) to.append(".").append(number.digits, 1);
  to += number.exponent < 0 ? "e-" : "e+";
  const int size = std::abs(number.exponent);
  if (size < 10) to += '0';
  to += std::to_string(size);
}

void append_plain(std::string& to, const decimal& number) {
  const int whole = number.exponent + 1; // digits before the point
  const int digits = int(number.digits.size());
  if (whole <= 0) {
    to.append("0.").append(std::size_t(-whole), '0').append(number.digits);
  } else if (digits <= whole) {
    to.append(number.digits).append(std::size_t(whole - digits), '0').append(".0");
  } else {
    to.append(number.digits, 0, std::size_t(whole)).append(".").append(number.digits, std::size_t(whole));
  }
}

} // namespace

label_set with(label_set labels, std::string_view name, std::string_view value) {
  labels.emplace_back(name, value);
  return labels;
}

void append_value(std::string& to, double value) {
  if (std::isnan(value)) {
    to += "NaN";
    return;
  }
  if (std::isinf(value)) {
    to += value > 0 ? "+Inf" : "-Inf";
    return;
  }
  if (std::signbit(value)) to += '-';
  const decimal number = shortest_digits(std::abs(value));
  // Python's own borders, but positive values get an exponent from 1e6 on, as in Go.
  const int upper = value > 0 ? 6 : 16;
  if (number.exponent < -4 || number.exponent >= upper) {
    append_with_exponent(to, number);
  } else {
    append_plain(to, number);
  }
}

std::string format_value(double value) {
  std::string out;
  append_value(out, value);
  return out;
}

std::string family_head(const family& which) { return head(which.name, which.help, kind_name(which.kind)); }

std::string created_head(const family& which) { return head(created_name(which), which.help, "gauge"); }

std::vector<std::string> series_lines(const family& which, label_set labels, std::span<const double> bounds) {
  std::sort(labels.begin(), labels.end());
  const std::string name(which.name);
  const std::string own = braced(labels);
  if (which.kind == family_kind::counter || which.kind == family_kind::gauge) return {name + own + " "};
  std::vector<std::string> lines;
  if (which.kind == family_kind::histogram) {
    const auto place = std::lower_bound(labels.begin(), labels.end(), std::pair<std::string, std::string>("le", ""));
    const auto le = labels.insert(place, {"le", ""});
    for (const double bound : bounds) {
      le->second = format_value(bound);
      lines.push_back(name + "_bucket" + braced(labels) + " ");
    }
    le->second = format_value(std::numeric_limits<double>::infinity());
    lines.push_back(name + "_bucket" + braced(labels) + " ");
  }
  lines.push_back(name + "_count" + own + " ");
  lines.push_back(name + "_sum" + own + " ");
  return lines;
}

std::string created_line(const family& which, label_set labels, double wall_s) {
  std::sort(labels.begin(), labels.end());
  return created_name(which) + braced(labels) + " " + format_value(wall_s) + "\n";
}

} // namespace omni
