#include "app/media/local_file.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <climits>
#include <fcntl.h>
#include <optional>
#include <sys/stat.h>
#include <unistd.h>

namespace omni::media {
namespace {

namespace fs = std::filesystem;

class file_handle {
public:
  explicit file_handle(const fs::path& path) : number_(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {}
  file_handle(const file_handle&) = delete;
  file_handle& operator=(const file_handle&) = delete;
  ~file_handle() {
    if (number_ >= 0) ::close(number_);
  }
  [[nodiscard]] int number() const { return number_; }

private:
  int number_;
};

/// The path of a URL: after the host, which must be empty or localhost, with %XX decoded.
std::optional<fs::path> path_of(std::string_view url) {
  constexpr std::string_view scheme = "file://", local = "localhost";
  url.remove_prefix(scheme.size());
  if (url.starts_with(local)) url.remove_prefix(local.size());
  if (!url.starts_with('/')) return std::nullopt;
  std::string path;
  for (std::size_t i = 0; i < url.size(); ++i) {
    if (url[i] != '%') {
      path.push_back(url[i]);
      continue;
    }
    const std::string_view digits = url.substr(i + 1, 2);
    std::uint8_t value = 0;
    const auto read = std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
    if (digits.size() != 2 || read.ptr != digits.data() + 2) return std::nullopt;
    path.push_back(static_cast<char>(value));
    i += 2;
  }
  return path.find('\0') == std::string::npos ? std::optional<fs::path>(path) : std::nullopt;
}

bool lies_below(const fs::path& path, const fs::path& root) {
  return std::mismatch(root.begin(), root.end(), path.begin(), path.end()).first == root.end();
}

} // namespace

outcome<std::string> read_local_file(std::string_view url, const fs::path& root, std::size_t most_bytes) {
  const auto asked = path_of(url);
  if (!asked) return wrong("is not a file URL that can be read; write it as file:///FOLDER/FILE");
  // The same answer for a file outside and for none, so that nobody learns which files exist.
  const auto not_there = [] {
    return wrong("names no file below the folder that --allowed-local-media-path allows; check the path");
  };
  std::error_code problem;
  const fs::path path = fs::canonical(*asked, problem);
  if (problem || !lies_below(path, root)) return not_there();
  const file_handle file(path);
  std::array<char, PATH_MAX> opened{};
  const std::string link = "/proc/self/fd/" + std::to_string(file.number());
  const ssize_t length = file.number() < 0 ? -1 : ::readlink(link.c_str(), opened.data(), opened.size());
  // What was opened counts: a link may have changed since.
  if (length < 0 || !lies_below(fs::path(std::string(opened.data(), std::size_t(length))), root)) return not_there();
  struct stat facts {};
  if (::fstat(file.number(), &facts) != 0 || !S_ISREG(facts.st_mode)) return not_there();
  if (std::size_t(facts.st_size) > most_bytes)
    return wrong("names a file of more than " + mebibytes(most_bytes) + "; use a smaller one");
  std::string bytes(std::size_t(facts.st_size), '\0');
  std::size_t at = 0;
  while (at < bytes.size()) {
    const ssize_t got = ::read(file.number(), bytes.data() + at, bytes.size() - at);
    if (got < 0) return wrong("names a file that cannot be read; check its disk");
    if (got == 0) break;
    at += std::size_t(got);
  }
  bytes.resize(at);
  return bytes;
}

} // namespace omni::media
