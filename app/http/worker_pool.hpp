#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace omni::http {

/// Threads for what would keep the handler thread from other requests. Any thread may call.
class worker_pool {
public:
  /// `name` is what tools show of the threads, at most 15 bytes.
  worker_pool(std::size_t threads, std::size_t max_waiting, std::string name);
  /// Drops what waits, waits for what runs.
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  /// Runs `job` when a thread is free; false, and nothing is done, if `max_waiting` wait already. It must not throw.
  bool post(std::function<void()> job);

private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

} // namespace omni::http
