#pragma once

#include "actors/report_pace.hpp"
#include "actors/stage/scheduler.hpp"
#include "kernels/models/stage_model.hpp"
#include "messages/chunk.hpp"
#include "messages/config.hpp"
#include "messages/control.hpp"

#include <memory>
#include <optional>
#include <unordered_map>
#include <unordered_set>

namespace omni {

struct replica_options {
  stage_id stage;
  replica_id replica;
  stage_config config;
  std::shared_ptr<const stage_model> model;
  thread_pool* pool = nullptr; // outlives the replica
  orchestrator_actor owner;
  stat_logger_actor logger; // none: statistics are off
};

/// What a stage asks of its runners.
runner_options runner_options_for(const stage_config& config);

/// A mailbox around one scheduler and one runner. While there is work it posts `step` to itself, so what arrives is
/// taken in between two steps. What the runner throws ends the replica, with a reason to its owner.
class stage_replica {
public:
  stage_replica(stage_replica_actor::pointer self, replica_options options);

  void on_open(const open_request& what);
  void on_chunk(const chunk& what);
  void on_abort(request_id id);
  /// The first one makes the runner.
  void on_step();
  /// Facts have waited for their turn.
  void on_flush();

private:
  /// Where a request's results go.
  struct binding {
    std::int32_t attempt = 0;
    stage_binding next;
    sink_actor sink;
    std::uint32_t received = 0; // chunks
    std::uint32_t sent = 0;
    time_us handed_over = 0; // that the received ones took
  };

  void start();
  void make_scheduler();
  void compute();
  /// Calls what may throw, the only place that catches: nothing if all went well.
  template <class Work>
  std::optional<failure> guarded(Work&& work);
  void die(failure problem);

  /// Does and says what a scheduler's call left in `out_`.
  void carry_out();
  void open_slots();
  void hand_over(const emissions::handover& piece);
  void send_pieces();
  void send_results();
  /// Sends the facts that were gathered, now or when it is their turn.
  void flush_facts(bool urgent);
  void send_report();
  [[nodiscard]] engine_report blank_report() const;
  void post_step();
  [[nodiscard]] time_us now() const { return now_us(self_); }

  stage_replica_actor::pointer self_;
  replica_options options_;
  std::unique_ptr<runner> runner_;
  std::unique_ptr<scheduler> scheduler_;
  std::unordered_map<request_id, binding> requests_;
  std::unordered_set<sequence_slot> slots_; // open in the runner
  emissions out_;                           // its report gathers facts until it is sent
  report_pace pace_;
  bool flush_posted_ = false;
  caf::actor timer_; // for reports that wait; made when first needed
  bool step_posted_ = false;
};

/// The behaviour of a `stage_replica_actor`. Detached in an engine; any other way in tests.
stage_replica_actor::behavior_type replica_behavior(stage_replica_actor::pointer self, replica_options options);

} // namespace omni
