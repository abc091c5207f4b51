#include "messages/caf.hpp"

#include "actors/net/remote_replica.hpp"

namespace omni::net {

stage_replica_actor::behavior_type remote_replica_behavior(stage_replica_actor::pointer self, const caf::actor& hub,
                                                           std::uint64_t number) {
  self->monitor(hub);
  self->set_down_handler([self](caf::down_msg&) { self->quit(); });
  return {
      [hub, number](const open_request& what) {
        caf::anon_send(hub, remote_open{number, what});
        for (const auto& medium : what.task.what.media)
          caf::anon_send(hub, remote_piece{number, bulk_of(request_medium{what.task.id, what.task.attempt, medium})});
      },
      [hub, number](const chunk& what) {
        caf::anon_send(hub, remote_piece{number, bulk_of(what)});
      },
      [hub, number](const abort_request& what) {
        caf::anon_send(hub, remote_abort{number, what.id});
      },
      [](step_atom) {},  // the replica steps where it lives
      [](flush_atom) {}, // ... and reports there
  };
}

} // namespace omni::net
