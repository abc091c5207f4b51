#pragma once

#include "actors/prefix_memory.hpp"
#include "actors/replica_registry.hpp"
#include "actors/report_pace.hpp"
#include "actors/request_table.hpp"
#include "actors/router.hpp"
#include "actors/stage_graph.hpp"
#include "messages/control.hpp"

#include <functional>
#include <map>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

namespace omni {

struct orchestrator_options {
  engine_config config;
  stage_graph graph;
  std::vector<std::uint64_t> fingerprints; // of the stages' models
  stat_logger_actor logger;                // none: statistics are off
  /// Starts a local replica, which reports `replica_ready` or `replica_failed` to its owner.
  std::function<stage_replica_actor(stage_id, replica_id, orchestrator_actor owner)> make_replica;
  /// Tells the operator of replicas that come and go, in a sentence; `level` is "INFO" or "WARNING".
  std::function<void(const char* level, const std::string&)> tell;
};

/// Owns each request from admission to its end: binds it once to one replica per stage and cleans up after whatever
/// ends it. Payload never passes here. One handler per message; decisions are in the plain classes that it holds.
class orchestrator_state {
public:
  orchestrator_state(orchestrator_actor::pointer self, orchestrator_options options);

  void on_submit(const submit& what);
  void on_abort(request_id id, bool client_left = false);
  void on_stage_done(const stage_done& what);
  void on_place_timeout(const place_timeout& what);
  caf::result<replica_outcome> on_start(const start_replicas& what);
  /// It is known from now on, and may be chosen once `on_ready` says so.
  join_answer on_join(const join_replica& what);
  void on_ready(const replica_ready& what);
  void on_failed(const replica_failed& what);
  void on_down(const caf::down_msg& what);
  replica_outcome on_remove(const remove_replica& what);
  replica_list on_list() const;
  caf::result<engine_drained> on_drain();
  void on_stop();

private:
  using replica_key = std::pair<stage_id, replica_id>;
  using outcome_promise = caf::typed_response_promise<replica_outcome>;
  using drained_promise = caf::typed_response_promise<engine_drained>;

  /// Replicas that were started by one command.
  struct cohort {
    outcome_promise answer;           // none for a replica of another process
    std::vector<replica_key> members; // in the order of the command
    std::map<replica_key, runner_info> ready;
    std::size_t unsettled = 0; // neither ready nor failed
    std::optional<failure> problem;
  };

  // -- requests --
  void refuse(const submit& what, errc code, std::string sentence);
  void place_or_wait(flight& one);
  /// Binds a request to one replica per stage and opens it there; false if a stage has none.
  bool place(flight& one);
  void place_waiting();
  void lose(flight& one);
  void on_start_over_answer(request_id id, std::int32_t attempt, start_over_answer answer);
  /// Takes a request from the replicas that still work on it.
  void release(flight& one);
  void unbind(const flight& one, flight::share& part);
  /// Every request ends here, whatever ended it.
  void end_flight(flight& one, const std::optional<failure>& problem);

  // -- replicas --
  void start(const replica_key& which);
  /// A replica of the cohort is ready or has failed. The last one makes all that are ready serve.
  void settle(cohort& group);
  /// It may be chosen from now on.
  void serve(const replica_key& which, const runner_info& info);
  void gone(replica_key which, const failure& why);
  void tell_departure(const replica_key& which, std::size_t requests, const failure& why) const;
  void retire_if_idle(const replica_key& which);
  [[nodiscard]] register_engine describe(const replica_key& which, const runner_info& info) const;
  [[nodiscard]] std::int32_t load_of(const flight& one, stage_id stage) const;

  // -- statistics --
  void count_end(const flight& one, const std::optional<failure>& problem, pipeline_report& facts) const;
  void tell(pipeline_report facts);
  void flush_facts();
  void tell_timing(const flight& one) const;

  orchestrator_actor::pointer self_;
  orchestrator_options options_;
  request_table table_;
  std::unordered_map<request_id, sink_actor> sinks_;
  replica_registry registry_;
  router router_;
  prefix_memory prefixes_;                              // of the text stage's replicas
  std::map<replica_key, stage_replica_actor> replicas_; // live ones
  std::map<replica_key, std::shared_ptr<cohort>> starting_;
  std::map<replica_key, engine_index> engines_; // of the starting and live ones
  std::uint64_t next_identity_ = 0;
  pipeline_report facts_; // that were not sent yet
  bool has_facts_ = false;
  report_pace pace_;
  bool draining_ = false;
  std::vector<drained_promise> drained_;
};

/// The behaviour of the `orchestrator_actor`. Scheduled.
orchestrator_actor::behavior_type orchestrator_behavior(orchestrator_actor::pointer self, orchestrator_options options);

} // namespace omni
