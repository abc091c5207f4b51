#include "actors/process_texts.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>

namespace omni {
namespace {

std::string text_of(const char* path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::int64_t open_files() {
  std::error_code none;
  std::int64_t count = 0;
  for (std::filesystem::directory_iterator at("/proc/self/fd", none), end; !none && at != end; at.increment(none))
    ++count;
  return count;
}

} // namespace

process_texts read_process_texts() {
  return {text_of("/proc/self/stat"), text_of("/proc/self/limits"), text_of("/proc/stat"), open_files(),
          sysconf(_SC_PAGESIZE),      sysconf(_SC_CLK_TCK)};
}

} // namespace omni
