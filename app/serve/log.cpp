#include "app/serve/log.hpp"

#include "actors/console.hpp"

#include <cstdio>

namespace omni::serve {
void log_info(std::string_view text) { print_line("INFO", text); }
void log_warning(std::string_view text) { print_line("WARNING", text); }
void log_error(std::string_view text) { print_line("ERROR", text); }

int complain(const failure& problem) {
  std::fprintf(stderr, "omni-serve: %s\n", problem.message.c_str());
  const bool wrong_use = problem.code == errc::invalid_request || problem.code == errc::replica_conflict;
  return wrong_use ? exit_wrong_use : exit_failed;
}

} // namespace omni::serve
