#pragma once

#include "messages/caf.hpp"
#include "messages/report.hpp"

// The map of the system: every actor, and what can be said to it. The messages are in messages/control.hpp,
// messages/chunk.hpp and messages/report.hpp.

namespace omni {

struct submit;
struct open_request;
struct abort_request;
struct stage_done;
struct answer_piece;
struct request_over;
struct start_over;
enum class start_over_answer : std::uint8_t;
struct chunk;
struct replica_ready;
struct replica_failed;
struct start_replicas;
struct remove_replica;
struct replica_outcome;
struct join_replica;
struct join_answer;
struct list_replicas;
struct replica_list;
struct drain_engine;
struct engine_drained;
struct stop_engine;
struct print_stats;
struct register_engines;
struct get_metrics;
struct metrics_page;
struct place_timeout;

using step_atom = caf::atom_constant<caf::atom("step")>;
using flush_atom = caf::atom_constant<caf::atom("flush")>;
using log_atom = caf::atom_constant<caf::atom("log")>;

/// Where one request's outputs go (actors/sink.hpp). One per request.
using sink_actor =
    actor_interface<caf::result<void>(answer_piece), // passes a piece on
                    caf::result<void>(request_over), // ends the request, at once or after the answers that it awaits
                    caf::result<start_over_answer>(start_over)>; // says whether the request may be worked on anew

/// Runs one stage for the requests bound to it (actors/stage/replica.hpp). Owns its model state; its own thread.
using stage_replica_actor =
    actor_interface<caf::result<void>(open_request),  // takes a request in
                    caf::result<void>(chunk),         // a piece of input from the stage before
                    caf::result<void>(abort_request), // frees all that a request holds; unknown ids are no error
                    caf::result<void>(step_atom),     // from itself while there is work: runs one step
                    caf::result<void>(flush_atom)>;   // from itself: sends the facts of the latest steps

/// Admits requests, binds each to one replica per stage, and cleans up after whatever ends them
/// (actors/orchestrator.hpp).
using orchestrator_actor =
    actor_interface<caf::result<void>(submit),                    // admits a request, or ends its sink with the reason
                    caf::result<void>(abort_request),             // ends a request; unknown ids are no error
                    caf::result<void>(stage_done),                // a stage's share of a request is over
                    caf::result<void>(replica_ready),             // a replica that was started may serve
                    caf::result<void>(replica_failed),            // a replica ends with a reason
                    caf::result<replica_outcome>(start_replicas), // starts local replicas; answers when they serve
                    caf::result<replica_outcome>(remove_replica), // drains a replica; answers at once
                    caf::result<join_answer>(join_replica),       // lets in a replica of another process
                    caf::result<replica_list>(list_replicas),     // the operator's view
                    caf::result<engine_drained>(drain_engine),    // admits no more; answers when no request is left
                    caf::result<void>(stop_engine),               // ends everything
                    caf::result<void>(place_timeout)>; // from itself: a request has waited for a replica long enough

/// Counts what the others report and prints once per interval (actors/stat_logger.hpp). Nobody waits for it: a sender
/// has two reports unanswered at most and gathers on at home (actors/report_pace.hpp).
using stat_logger_actor =
    actor_interface<caf::result<void>(register_engines),    // makes the series of replicas, before their first report
                    caf::result<void>(engine_departed),     // a replica's load is gone, its series stay
                    caf::result<void>(engine_report),       // counts what a replica did
                    caf::result<void>(pipeline_report),     // counts what happened to whole requests
                    caf::result<void>(request_timeline),    // prints where one request's time went
                    caf::result<void>(http_report),         // counts an answer of the HTTP server
                    caf::result<void>(print_stats),         // prints the console lines
                    caf::result<metrics_page>(get_metrics), // the text of /metrics
                    caf::result<void>(log_atom)>;           // from itself, once per interval

} // namespace omni
