#pragma once

#include "messages/chunk.hpp"
#include "messages/control.hpp"
#include "messages/inspect_control.hpp"

// Every message by number. Append only: the numbers are part of what two processes must agree on.

CAF_BEGIN_TYPE_ID_BLOCK(omni, caf::first_custom_type_id)

CAF_ADD_TYPE_ID(omni, (omni::submit))
CAF_ADD_TYPE_ID(omni, (omni::open_request))
CAF_ADD_TYPE_ID(omni, (omni::abort_request))
CAF_ADD_TYPE_ID(omni, (omni::stage_done))
CAF_ADD_TYPE_ID(omni, (omni::request_over))
CAF_ADD_TYPE_ID(omni, (omni::start_over))
CAF_ADD_TYPE_ID(omni, (omni::start_over_answer))
CAF_ADD_TYPE_ID(omni, (omni::replica_ready))
CAF_ADD_TYPE_ID(omni, (omni::replica_failed))
CAF_ADD_TYPE_ID(omni, (omni::start_replicas))
CAF_ADD_TYPE_ID(omni, (omni::remove_replica))
CAF_ADD_TYPE_ID(omni, (omni::replica_outcome))
CAF_ADD_TYPE_ID(omni, (omni::list_replicas))
CAF_ADD_TYPE_ID(omni, (omni::replica_list))
CAF_ADD_TYPE_ID(omni, (omni::drain_engine))
CAF_ADD_TYPE_ID(omni, (omni::engine_drained))
CAF_ADD_TYPE_ID(omni, (omni::stop_engine))
CAF_ADD_TYPE_ID(omni, (omni::place_timeout))
CAF_ADD_TYPE_ID(omni, (omni::register_engines))
CAF_ADD_TYPE_ID(omni, (omni::engine_departed))
CAF_ADD_TYPE_ID(omni, (omni::engine_report))
CAF_ADD_TYPE_ID(omni, (omni::pipeline_report))
CAF_ADD_TYPE_ID(omni, (omni::http_report))
CAF_ADD_TYPE_ID(omni, (omni::print_stats))
CAF_ADD_TYPE_ID(omni, (omni::get_metrics))
CAF_ADD_TYPE_ID(omni, (omni::metrics_page))
CAF_ADD_TYPE_ID(omni, (omni::request_timeline))

CAF_END_TYPE_ID_BLOCK(omni)

// Messages that hold shared memory or stay at home for another reason: only within one process.
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(omni::join_replica)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(omni::join_answer)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(omni::chunk)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(omni::answer_piece)
