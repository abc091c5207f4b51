#include "metrics/timing_line.hpp"

#include "metrics/fixed.hpp"

#include <string_view>

namespace omni {
namespace {

std::string milliseconds(double seconds) { return fixed(seconds * 1000, 3) + "ms"; }

// The name comes from a client: it must not be able to begin a line of its own.
std::string printable(std::string_view name) {
  std::string out(name);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7F) c = '?';
  return out;
}

} // namespace

std::string timing_line(const request_timeline& of) {
  std::string line = "[OmniTiming] req=" + printable(of.name) + " total=" + milliseconds(of.total_s) +
                     " preprocess=" + milliseconds(of.preprocess_s) + " engine=" + milliseconds(of.engine_s) +
                     " stages=[";
  const char* separator = "";
  for (const auto& [stage, seconds] : of.stages) {
    line.append(separator).append(std::to_string(stage.value)).append(":").append(milliseconds(seconds));
    separator = ",";
  }
  line += "] transfers=[";
  separator = "";
  for (const auto& [from, to, seconds] : of.transfers) {
    line.append(separator).append(std::to_string(from.value)).append("->").append(std::to_string(to.value));
    line.append("=").append(milliseconds(seconds));
    separator = ",";
  }
  return line + "]";
}

} // namespace omni
