#pragma once

#include <algorithm>
#include <sched.h>
#include <thread>

namespace omni {

/// Cores that this process may use.
inline unsigned cores_of_process() {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  if (sched_getaffinity(0, sizeof(cores), &cores) != 0) return std::max(1U, std::thread::hardware_concurrency());
  return unsigned(std::max(1, CPU_COUNT(&cores)));
}

} // namespace omni
