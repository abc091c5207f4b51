#include "metrics/process_facts.hpp"

#include <charconv>
#include <cstddef>
#include <string_view>
#include <vector>

namespace omni {
namespace {

std::vector<std::string_view> words(std::string_view text) {
  constexpr std::string_view space = " \t\n";
  std::vector<std::string_view> out;
  for (std::size_t at = text.find_first_not_of(space); at != std::string_view::npos;) {
    const std::size_t end = std::min(text.find_first_of(space, at), text.size());
    out.push_back(text.substr(at, end - at));
    at = text.find_first_not_of(space, end);
  }
  return out;
}

std::optional<double> number(std::string_view word) {
  double value = 0;
  const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
  if (error != std::errc() || end != word.data() + word.size() || value < 0) return std::nullopt;
  return value;
}

/// The word after `name` at the start of a line of `text`.
std::optional<double> number_after(std::string_view text, std::string_view name) {
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    const std::string_view line = text.substr(at, end - at);
    if (line.starts_with(name)) {
      const auto rest = words(line.substr(name.size()));
      return rest.empty() ? std::nullopt : number(rest[0]);
    }
    at = end + 1;
  }
  return std::nullopt;
}

} // namespace

process_facts read_process_facts(const process_texts& texts) {
  process_facts facts;
  facts.open_fds = double(texts.open_fds);
  facts.max_fds = number_after(texts.self_limits, "Max open files");
  // The second field is the program's name in brackets and may hold spaces and brackets, so count from the last one:
  // the word after it is field 3 of proc(5).
  const std::size_t bracket = texts.self_stat.rfind(')');
  if (bracket == std::string::npos) return facts;
  const auto rest = words(std::string_view(texts.self_stat).substr(bracket + 1));
  const auto field = [&](std::size_t n) { return n - 3 < rest.size() ? number(rest[n - 3]) : std::nullopt; };

  facts.virtual_memory_bytes = field(23);
  if (const auto pages = field(24)) facts.resident_memory_bytes = *pages * double(texts.page_bytes);
  if (texts.ticks_per_s <= 0) return facts;
  const double tick_s = 1.0 / double(texts.ticks_per_s);
  const auto user = field(14);
  const auto system = field(15);
  if (user && system) facts.cpu_s = (*user + *system) * tick_s;
  const auto started = field(22);
  const auto boot = number_after(texts.system_stat, "btime");
  if (started && boot) facts.start_time_s = *boot + *started * tick_s;
  return facts;
}

} // namespace omni
