#include "actors/weak_timer.hpp"

#include <chrono>

namespace omni {
namespace {

using due_atom = caf::atom_constant<caf::atom("due")>;

caf::behavior weak_timer(caf::event_based_actor* self, const caf::strong_actor_ptr& whom) {
  self->set_down_handler([self](const caf::down_msg&) { self->quit(); });
  self->monitor(whom);
  return {
      [self](time_us wait, caf::message what) {
        self->delayed_send(self, std::chrono::microseconds(wait), due_atom::value, std::move(what));
      },
      [known = caf::actor_cast<caf::weak_actor_ptr>(whom)](due_atom, caf::message what) {
        if (const auto there = caf::actor_cast<caf::strong_actor_ptr>(known))
          there->enqueue(nullptr, caf::make_message_id(), std::move(what), nullptr);
      },
  };
}

} // namespace

caf::actor make_weak_timer(caf::actor_system& system, const caf::strong_actor_ptr& whom) {
  return system.spawn(weak_timer, whom);
}

} // namespace omni
