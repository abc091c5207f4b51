#pragma once

#include "actors/replica_registry.hpp"
#include "messages/config.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <span>

namespace omni {

/// Chooses a replica for a request. Plain data; the choice is kept for the life of the request by who asks.
class router {
public:
  router(routing_policy policy, std::uint64_t seed) : policy_(policy), state_(seed) {}

  /// One of `choices` (ordered by id), or nothing if there is none. `least_queue_length` prefers the one that holds
  /// most of the prompt among those that are almost as idle as the idlest, then the idlest, then takes turns.
  std::optional<replica_id> pick(stage_id stage, std::span<const replica_registry::choice> choices);

private:
  routing_policy policy_;
  std::uint64_t state_;                 // of the random numbers
  std::map<stage_id, replica_id> last_; // the latest choice per stage, for taking turns
};

} // namespace omni
