#include "actors/console.hpp"

#include <cstdio>
#include <ctime>
#include <string>

namespace omni {

void print_line(const char* level, std::string_view text) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%m-%d %H:%M:%S", &local);
  const std::string line = std::string(level) + " " + stamp + " " + std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr); // one call, so that lines of several threads do not mix
}

} // namespace omni
