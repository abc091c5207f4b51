#include "app/serve/log.hpp"

#include <cstdio>
#include <ctime>
#include <string>

namespace omni::serve {
namespace {

void write_line(const char* level, std::string_view text) {
  const std::time_t now = std::time(nullptr);
  std::tm local{};
  localtime_r(&now, &local);
  char stamp[32];
  std::strftime(stamp, sizeof stamp, "%m-%d %H:%M:%S", &local);
  const std::string line = std::string(level) + " " + stamp + " " + std::string(text) + "\n";
  std::fwrite(line.data(), 1, line.size(), stderr); // one call, so that lines of several threads do not mix
}

} // namespace

void log_info(std::string_view text) { write_line("INFO", text); }
void log_warning(std::string_view text) { write_line("WARNING", text); }
void log_error(std::string_view text) { write_line("ERROR", text); }

int complain(const failure& problem, int status) {
  std::fprintf(stderr, "omni-serve: %s\n", problem.message.c_str());
  return status;
}

} // namespace omni::serve
