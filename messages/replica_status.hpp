#pragma once

#include "messages/ids.hpp"

#include <cstdint>
#include <string>

namespace omni {

enum class replica_state : std::uint8_t { starting, serving, draining, lost };

/// One line of the operator's view. Running and waiting are as the router sees them: sequences up to, and beyond, what
/// one step of the replica holds.
struct replica_status {
  stage_id stage;
  replica_id replica;
  replica_state state = replica_state::starting;
  std::int32_t running = 0;
  std::int32_t waiting = 0;
  std::string address;           // of its process; empty: the head's own
  double up_s = 0;               // since it joined
  std::uint64_t fingerprint = 0; // of its model and settings
};

} // namespace omni
