#pragma once

#include "kernels/runtime/payload.hpp"
#include "messages/clock.hpp"
#include "messages/ids.hpp"

#include <cstdint>
#include <memory>

namespace omni {

/// A piece that one stage hands to the next, replica to replica, inside a process. It cannot be serialised on purpose:
/// to another process a link actor translates it into bytes.
struct chunk {
  request_id request;
  std::int32_t attempt = 0;
  stage_id from_stage;
  replica_id from_replica;
  std::uint32_t number = 0;            // 0, 1, 2, ... within the request and stage
  std::shared_ptr<const payload> data; // null: nothing but the end
  bool end = false;                    // nothing follows
  time_us sent = 0;
};

} // namespace omni
