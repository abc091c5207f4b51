#pragma once

#include "messages/clock.hpp"
#include "messages/errc.hpp"
#include "messages/ids.hpp"
#include "messages/output.hpp"
#include "messages/request.hpp"

#include <cstdint>
#include <optional>

namespace omni {

/// One stage's share of a request.
struct stage_task {
  request_id id;
  std::int32_t attempt = 0; // how often the request was started over; what belongs to an earlier attempt is void
  request what;             // `prompt` and `text` only where the request enters
  time_us arrival = 0;      // when the request came in
  bool for_client = false;  // this stage's output goes to the request's sink
  bool for_next = false;    // ... and to the next stage
};

/// How one stage's share ended.
struct stage_result {
  request_id request;
  std::int32_t attempt = 0;
  finish_reason finish = finish_reason::stop;
  std::int64_t prompt_tokens = 0; // over all choices; 0 for stages without tokens
  std::int64_t generation_tokens = 0;
  std::optional<failure> problem; // set: the request cannot go on
  time_us inside = 0;             // from its first input to its end here
  time_us handed_over = 0;        // that its pieces took from the stage before, in sum
};

} // namespace omni
