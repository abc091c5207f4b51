#pragma once

#include "actors/engine.hpp"

#include <future>
#include <utility>
#include <vector>

namespace omni::test {

/// The state of all replicas, waited for.
inline std::vector<replica_status> replicas_of(engine& running) {
  std::promise<std::vector<replica_status>> lines;
  running.replicas([&](std::vector<replica_status> found) { lines.set_value(std::move(found)); });
  return lines.get_future().get();
}

} // namespace omni::test
