#pragma once

#include "kernels/runtime/runner.hpp"
#include "messages/clock.hpp"
#include "messages/errc.hpp"
#include "messages/ids.hpp"
#include "messages/interfaces.hpp"
#include "messages/replica_status.hpp"
#include "messages/stage_task.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

// What the control plane says. It never carries payload; see messages/chunk.hpp for what replicas hand over.

namespace omni {

// -- one request ------------------------------------------------------------------------------------------------------

/// Facade to orchestrator: a checked request.
struct submit {
  request_id id;
  request what;
  time_us arrival = 0;
  sink_actor sink;
};

/// The replica that works on a request in one stage.
struct stage_binding {
  stage_id stage;
  replica_id replica;
  stage_replica_actor handle;
};

/// Orchestrator to replica, at admission: take the request in. Everything that the replica must know of its
/// neighbours comes with it, so that payload never passes the orchestrator.
struct open_request {
  stage_task task;
  stage_binding next; // no handle: this is the last stage of the request
  sink_actor sink;
};

/// Ends a request early. Facade to orchestrator: nobody wants it any more. Orchestrator to replica: free all that it
/// holds.
struct abort_request {
  request_id id;
  bool client_left = false; // for statistics: the client went away, it did not ask for the end
};

/// Replica to orchestrator: its share of a request is over. The one message per request and stage.
struct stage_done {
  stage_id stage;
  replica_id replica;
  stage_result result;
};

/// A piece of the answer on its way to the request's sink.
struct answer_piece {
  std::int32_t attempt = 0;
  output what;
};

/// Orchestrator to sink: the request has ended and holds nothing any more. Without a problem the sink still awaits the
/// answers that are on their way.
struct request_over {
  std::optional<failure> problem;
};

/// Orchestrator to sink: a replica was lost, may the request start over as `attempt`? Allowed while nobody has a part
/// of the answer that cannot be taken back; pieces of earlier attempts are dropped from then on.
struct start_over {
  std::int32_t attempt = 0;
};
enum class start_over_answer : std::uint8_t {
  allowed,
  already_heard, // the client has part of the answer
  complete,      // the client has all of it
};

// -- replicas ---------------------------------------------------------------------------------------------------------

/// Replica to orchestrator: loaded, may be given requests.
struct replica_ready {
  stage_id stage;
  replica_id replica;
  runner_info info;
};

/// Replica to orchestrator: it ends, because it could not start or its device failed.
struct replica_failed {
  stage_id stage;
  replica_id replica;
  failure problem;
};

/// A local replica to be started, under the wanted id or the lowest free one.
struct wanted_replica {
  stage_id stage;
  std::optional<replica_id> id;
};

/// Facade to orchestrator: start these replicas together. They begin to serve when all of them can.
struct start_replicas {
  std::vector<wanted_replica> wanted;
};

/// Facade to orchestrator: give a replica no new requests and end it after its last one.
struct remove_replica {
  stage_id stage;
  replica_id replica;
};

/// The answer to a command about replicas: those that it started, in its order, and what went wrong first.
struct replica_outcome {
  std::vector<replica_ready> replicas;
  std::optional<failure> problem;
};

/// Membership to orchestrator: a replica of another process wants in. `handle` stands for it from now on.
struct join_replica {
  stage_id stage;
  std::optional<replica_id> wanted; // none: the lowest free id
  std::uint64_t identity = 0;       // equal for the same replica that comes again
  std::uint64_t fingerprint = 0;
  std::string address; // of its process
  stage_replica_actor handle;
};
struct join_answer {
  replica_id replica;
  std::optional<failure> problem; // set: refused
};

struct list_replicas {};
struct replica_list {
  std::vector<replica_status> replicas;
};

// -- the whole engine -------------------------------------------------------------------------------------------------

/// Admit nothing more; answered when no request is left.
struct drain_engine {};
struct engine_drained {};

/// Orchestrator to itself: `id` has waited for a replica since its `attempt`.
struct place_timeout {
  request_id id;
  std::int32_t attempt = 0;
};

/// End everything now: requests fail with `shutting_down`, replicas and then the orchestrator end.
struct stop_engine {};

// -- statistics -------------------------------------------------------------------------------------------------------

/// Orchestrator to stat logger: replicas that begin to serve together.
struct register_engines {
  std::vector<register_engine> engines;
};

/// Print the console lines now.
struct print_stats {};
struct get_metrics {};
struct metrics_page {
  std::string text;
};

} // namespace omni
