#pragma once

#include "messages/caf.hpp"
#include "messages/clock.hpp"

namespace omni {

/// Sends an actor messages after a while, and knows it weakly: what waits in CAF's clock keeps its receiver alive, with
/// all that came too late for it, and a system that ends waits for detached actors before it clears the clock. So who
/// is detached, or may get messages of such actors, does not wait there itself. Ends with `whom`. Scheduled.
caf::actor make_weak_timer(caf::actor_system& system, const caf::strong_actor_ptr& whom);

/// `what` goes to the timer's actor after `wait` microseconds.
template <class T>
void send_later(const caf::actor& timer, time_us wait, T what) {
  caf::anon_send(timer, wait, caf::make_message(std::move(what)));
}

} // namespace omni
