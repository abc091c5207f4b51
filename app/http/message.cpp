#include "app/http/message.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace omni::http {
namespace {

char lower(char c) { return c >= 'A' && c <= 'Z' ? char(c - 'A' + 'a') : c; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  const char low = lower(c);
  return low >= 'a' && low <= 'f' ? low - 'a' + 10 : -1;
}

} // namespace

bool same_name(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return lower(x) == lower(y); });
}

std::string_view request::value(std::string_view name) const {
  for (const header& each : headers)
    if (same_name(each.name, name)) return each.value;
  return {};
}

std::string_view reason_phrase(int status) {
  static constexpr std::array<std::pair<int, std::string_view>, 20> phrases{{{200, "OK"},
                                                                             {204, "No Content"},
                                                                             {400, "Bad Request"},
                                                                             {401, "Unauthorized"},
                                                                             {403, "Forbidden"},
                                                                             {404, "Not Found"},
                                                                             {405, "Method Not Allowed"},
                                                                             {408, "Request Timeout"},
                                                                             {409, "Conflict"},
                                                                             {413, "Content Too Large"},
                                                                             {415, "Unsupported Media Type"},
                                                                             {417, "Expectation Failed"},
                                                                             {422, "Unprocessable Content"},
                                                                             {429, "Too Many Requests"},
                                                                             {431, "Request Header Fields Too Large"},
                                                                             {499, "Client Closed Request"},
                                                                             {500, "Internal Server Error"},
                                                                             {501, "Not Implemented"},
                                                                             {503, "Service Unavailable"},
                                                                             {505, "HTTP Version Not Supported"}}};
  for (const auto& [code, phrase] : phrases)
    if (code == status) return phrase;
  return "Unknown";
}

bool percent_decode(std::string_view in, std::string& out) {
  out.clear();
  for (std::size_t i = 0; i < in.size(); ++i) {
    char c = in[i];
    if (c == '%') {
      if (in.size() - i < 3) return false;
      const int high = hex_digit(in[i + 1]);
      const int low = hex_digit(in[i + 2]);
      if (high < 0 || low < 0) return false;
      c = char(high * 16 + low);
      i += 2;
    }
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) return false;
    out.push_back(c);
  }
  return true;
}

} // namespace omni::http
