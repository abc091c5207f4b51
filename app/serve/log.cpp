#include "app/serve/log.hpp"

#include "actors/console.hpp"

#include <cstdio>

namespace omni::serve {
void log_info(std::string_view text) { print_line("INFO", text); }
void log_warning(std::string_view text) { print_line("WARNING", text); }
void log_error(std::string_view text) { print_line("ERROR", text); }

int complain(const failure& problem, int status) {
  std::fprintf(stderr, "omni-serve: %s\n", problem.message.c_str());
  return status;
}

} // namespace omni::serve
