#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace omni {

/// What Linux tells about this process, as texts; reading them is the caller's business.
struct process_texts {
  std::string self_stat;        // /proc/self/stat
  std::string self_limits;      // /proc/self/limits
  std::string system_stat;      // /proc/stat
  std::int64_t open_fds = 0;    // entries of /proc/self/fd
  std::int64_t page_bytes = 0;  // sysconf(_SC_PAGESIZE)
  std::int64_t ticks_per_s = 0; // sysconf(_SC_CLK_TCK)
};

/// A fact that the texts do not hold is absent.
struct process_facts {
  std::optional<double> virtual_memory_bytes;
  std::optional<double> resident_memory_bytes;
  std::optional<double> start_time_s; // since 1970
  std::optional<double> cpu_s;        // user and system
  std::optional<double> open_fds;
  std::optional<double> max_fds; // the soft limit; absent if unlimited
};

[[nodiscard]] process_facts read_process_facts(const process_texts& texts);

} // namespace omni
