#include "kernels/text/jinja_date.hpp"

#include <array>

namespace omni::text::jinja {
namespace {

constexpr std::array<std::string_view, 7> days = {"Sunday",   "Monday", "Tuesday", "Wednesday",
                                                  "Thursday", "Friday", "Saturday"};
constexpr std::array<std::string_view, 12> months = {"January",   "February", "March",    "April",
                                                     "May",       "June",     "July",     "August",
                                                     "September", "October",  "November", "December"};

template <std::size_t Size>
std::string_view name_of(const std::array<std::string_view, Size>& names, int index) {
  return names[static_cast<std::size_t>(index < 0 ? 0 : index) % Size];
}

std::string padded(int number, std::size_t width, bool pad) {
  std::string digits = std::to_string(number);
  return pad && digits.size() < width ? std::string(width - digits.size(), '0') + digits : digits;
}

/// What one code stands for; the code itself if it is unknown.
std::string field(const std::tm& when, char code, bool pad) {
  switch (code) {
  case 'a':
    return std::string(name_of(days, when.tm_wday).substr(0, 3));
  case 'A':
    return std::string(name_of(days, when.tm_wday));
  case 'b':
  case 'h':
    return std::string(name_of(months, when.tm_mon).substr(0, 3));
  case 'B':
    return std::string(name_of(months, when.tm_mon));
  case 'd':
    return padded(when.tm_mday, 2, pad);
  case 'm':
    return padded(when.tm_mon + 1, 2, pad);
  case 'y':
    return padded(when.tm_year % 100, 2, pad);
  case 'Y':
    return padded(when.tm_year + 1900, 4, pad);
  case 'j':
    return padded(when.tm_yday + 1, 3, pad);
  case 'H':
    return padded(when.tm_hour, 2, pad);
  case 'I':
    return padded((when.tm_hour + 11) % 12 + 1, 2, pad);
  case 'M':
    return padded(when.tm_min, 2, pad);
  case 'S':
    return padded(when.tm_sec, 2, pad);
  case 'p':
    return when.tm_hour < 12 ? "AM" : "PM";
  case 'F':
    return format_date(when, "%Y-%m-%d");
  case 'T':
    return format_date(when, "%H:%M:%S");
  case '%':
    return "%";
  default:
    return std::string(pad ? "%" : "%-") + code;
  }
}

} // namespace

std::string format_date(const std::tm& when, std::string_view pattern) {
  std::string out;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    const bool unpadded = pattern.substr(at).starts_with("%-");
    const std::size_t code = at + (unpadded ? 2 : 1);
    if (pattern[at] != '%' || code >= pattern.size()) {
      out += pattern[at];
      continue;
    }
    out += field(when, pattern[code], !unpadded);
    at = code;
  }
  return out;
}

} // namespace omni::text::jinja
