#pragma once

#include "messages/errc.hpp"

#include <string>

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

/// Times this machine.
machine time_this_machine(unsigned threads);

} // namespace omni::cli
