#pragma once

#include "messages/ids.hpp"

#include <string>
#include <vector>

namespace omni {

/// Where one request's time went. Seconds.
struct request_timeline {
  struct stage_share {
    stage_id stage;
    double seconds = 0;
  };
  struct transfer_share {
    stage_id from;
    stage_id to;
    double seconds = 0; // all hand-overs of this request on the edge
  };
  std::string name;        // the client's name for it
  double total_s = 0;      // arrival -> last output
  double preprocess_s = 0; // arrival -> handed to the engine
  double engine_s = 0;     // handed to the engine -> last output
  std::vector<stage_share> stages;
  std::vector<transfer_share> transfers;
};

/// The console line of one request, with vLLM-Omni's tag and keys; all values in milliseconds.
[[nodiscard]] std::string timing_line(const request_timeline& of);

} // namespace omni
