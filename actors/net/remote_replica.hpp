#pragma once

#include "actors/net/wire_messages.hpp"
#include "messages/type_ids.hpp"

#include <caf/io/broker.hpp>

#include <cstdint>

namespace omni::net {

/// What a remote replica's stand-in tells the actor that holds the connections (its hub).
struct remote_open {
  std::uint64_t number = 0; // of the stand-in
  open_request what;
};
struct remote_abort {
  std::uint64_t number = 0;
  request_id id;
};
/// A piece of input, as bytes.
struct remote_piece {
  std::uint64_t number = 0;
  bytes message;
};

/// Stands for a replica of another process: to whoever knows it, it is a `stage_replica_actor`. Payload becomes bytes
/// here, so that the hub only passes them on. Ends with the hub.
stage_replica_actor::behavior_type remote_replica_behavior(stage_replica_actor::pointer self, const caf::actor& hub,
                                                           std::uint64_t number);

/// Copies of a handle of an actor that takes more messages than its type says: brokers have no typed handles.
template <class Handle>
Handle as(caf::io::broker* self) {
  return caf::actor_cast<Handle>(caf::actor_cast<caf::strong_actor_ptr>(self));
}

} // namespace omni::net

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(omni::net::remote_open)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(omni::net::remote_abort)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(omni::net::remote_piece)
