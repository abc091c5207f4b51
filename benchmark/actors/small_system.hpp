#pragma once

#include "messages/type_ids.hpp"

namespace omni {

/// An actor system with two scheduler threads, as a program of this project has it.
struct small_system {
  struct config : caf::actor_system_config {
    config() {
      add_message_types<caf::id_block::omni>();
      configure(*this, 2);
    }
  };
  config settings;
  caf::actor_system system{settings};
};

} // namespace omni
