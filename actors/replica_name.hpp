#pragma once

#include "messages/ids.hpp"

#include <string>

namespace omni {

/// A replica as the beginning of a sentence: "Replica 0 of stage 2".
inline std::string replica_name(stage_id stage, replica_id replica) {
  return "Replica " + std::to_string(replica.value) + " of stage " + std::to_string(stage.value);
}

} // namespace omni
