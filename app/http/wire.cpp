#include "app/http/wire.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>

namespace omni::http {

bool split_target(std::string_view target, std::string& path, std::string& query) {
  if (target == "*") {
    path.assign(target);
    return true;
  }
  if (const auto scheme = target.find("://"); scheme != std::string_view::npos && !target.starts_with('/')) {
    const auto slash = target.find('/', scheme + 3);
    target = slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
  }
  if (!target.starts_with('/')) return false;
  const auto mark = target.find('?');
  query.clear();
  if (mark != std::string_view::npos) query.assign(target.substr(mark + 1));
  return percent_decode(target.substr(0, mark), path);
}

std::string write_head(int status, const std::vector<header>& headers) {
  std::string out = "HTTP/1.1 " + std::to_string(status) + ' ';
  out += reason_phrase(status);
  out += "\r\n";
  for (const header& each : headers) {
    const bool clean = std::none_of(each.value.begin(), each.value.end(),
                                    [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; });
    if (clean) out += each.name + ": " + each.value + "\r\n";
  }
  const std::time_t now = std::time(nullptr);
  std::tm utc{};
  gmtime_r(&now, &utc);
  std::array<char, 64> date{};
  const std::size_t size = std::strftime(date.data(), date.size(), "Date: %a, %d %b %Y %H:%M:%S GMT\r\n\r\n", &utc);
  out.append(date.data(), size);
  return out;
}

void add_chunk(std::string_view piece, bool chunked, std::string& out) {
  if (piece.empty()) return; // an empty chunk would end the body
  if (!chunked) {
    out += piece;
    return;
  }
  std::array<char, 20> size{};
  const auto end = std::to_chars(size.data(), size.data() + size.size(), piece.size(), 16).ptr;
  out.append(size.data(), end);
  out += "\r\n";
  out += piece;
  out += "\r\n";
}

} // namespace omni::http
