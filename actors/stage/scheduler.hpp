#pragma once

#include "kernels/runtime/batch.hpp"
#include "messages/clock.hpp"
#include "messages/report.hpp"
#include "messages/stage_task.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace omni {

/// What a call of a scheduler leaves to be done and said. The scheduler fills it, the replica carries it out in this
/// order: close slots, open slots, send chunks, outputs and results, send the report.
struct emissions {
  struct opening {
    request_id request;
    sequence_slot slot = 0;
    sequence_params params;
  };
  struct handover {
    request_id request;
    std::shared_ptr<const payload> data; // null: nothing but the end
    bool end = false;
  };

  std::vector<sequence_slot> closed;
  std::vector<opening> opened;
  std::vector<handover> chunks;      // for the next stage
  std::vector<output> outputs;       // for the request's sink
  std::vector<stage_result> results; // shares that are over; nothing more comes for these requests
  engine_report report;              // facts; stage and replica are the replica's to fill in
  bool has_facts = false;
};

/// Decides what a replica's next step computes. A step is: plan, run, update. Plain data: no actor, no clock, no I/O;
/// one thread.
class scheduler {
public:
  virtual ~scheduler() = default;
  /// Takes a request in. Its slots are in `opened`.
  virtual void open(stage_task task, time_us now, emissions& out) = 0;
  /// Input of a request from the stage before; `end`: nothing follows. Unknown requests are ignored.
  virtual void feed(request_id request, std::shared_ptr<const payload> input, bool end, time_us now) = 0;
  /// Frees all that a request holds: it was aborted, or it failed with `problem` and its result says so. Unknown
  /// requests are ignored. Not between `plan` and `update`.
  virtual void end(request_id request, const std::optional<failure>& problem, time_us now, emissions& out) = 0;

  [[nodiscard]] virtual bool has_work() const = 0;
  /// The next step; not empty if there is work. Valid until the next call.
  virtual const batch& plan(time_us now) = 0;
  /// What the planned step computed.
  virtual void update(const step_result& result, time_us now, emissions& out) = 0;
};

} // namespace omni
