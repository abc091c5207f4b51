#pragma once

#include "kernels/core/thread_pool.hpp"
#include "messages/errc.hpp"

#include <string>
#include <vector>

namespace omni::cli {

/// What a plan's steps run on.
struct machine {
  std::string name;
  double bytes_per_s = 0;  // of memory, reading
  double flops_per_s = 0;  // multiplications and additions
  double memory_bytes = 0; // for weights and streams
};

/// A known device ("h200", "h100", "a100", "l40s"), "GB/S,TFLOP/S,GIB", or "cpu" (also empty): this machine, whose
/// memory and arithmetic are timed with so many threads, which takes about half a second.
expected<machine> find_machine(const std::string& named, unsigned threads);

/// Times this machine with so many threads: how fast they read memory together, and multiply-adds between registers.
/// Reads 32 MiB at a time, of 128, so that neither caches nor what else runs on the machine decide much.
class machine_timer {
public:
  explicit machine_timer(unsigned threads);

  /// Times both four times; about 50 ms.
  void pass();
  /// The best of all passes.
  [[nodiscard]] const machine& best() const { return best_; }

private:
  thread_pool pool_;
  thread_pool::lane lane_;
  std::vector<float> memory_;
  machine best_;
};

} // namespace omni::cli
