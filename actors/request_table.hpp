#pragma once

#include "actors/stage_graph.hpp"
#include "messages/clock.hpp"
#include "messages/ids.hpp"
#include "messages/request.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

namespace omni {

/// One request from admission to its end, as the orchestrator sees it.
struct flight {
  enum class phase : std::uint8_t {
    waiting, // for a replica of some stage
    placed,  // bound to one replica per stage
    asking,  // lost a replica; its sink is asked whether it may start over
  };
  struct share {
    stage_id stage;
    replica_id replica;
    bool done = false;
    time_us inside = 0; // once it is done, as in stage_result
    time_us handed_over = 0;
  };

  request_id id;
  request what;
  stage_graph::path way;
  time_us arrival = 0;   // when it came in
  time_us submitted = 0; // when it was handed to the engine
  phase now = phase::waiting;
  std::int32_t attempt = 0;            // how often it was started over
  std::vector<share> shares;           // while placed: one per stage of its way
  std::optional<finish_reason> finish; // of the first stage
  std::int64_t prompt_tokens = 0;      // over its stages
  std::int64_t generation_tokens = 0;
  bool client_left = false; // it was aborted because its client went away

  [[nodiscard]] share* share_of(stage_id stage);
  [[nodiscard]] bool all_done() const;
  /// Whether a share that is not done is bound to this replica.
  [[nodiscard]] bool needs(stage_id stage, replica_id replica) const;
};

/// All requests in flight. The engine's own: an actor system tells nobody which requests a lost peer had.
class request_table {
public:
  flight& add(request_id id, request what, stage_graph::path way, time_us arrival);
  [[nodiscard]] flight* find(request_id id);
  void erase(request_id id) { flights_.erase(id); }
  /// Ids of those that wait for a replica, in order of arrival.
  [[nodiscard]] std::vector<request_id> waiting() const;
  /// Ids of those that a replica works on.
  [[nodiscard]] std::vector<request_id> bound_to(stage_id stage, replica_id replica) const;
  [[nodiscard]] std::vector<request_id> all() const;
  [[nodiscard]] std::size_t size() const { return flights_.size(); }
  [[nodiscard]] std::size_t count(flight::phase phase) const;

private:
  std::map<request_id, flight> flights_; // ids rise with arrival
};

} // namespace omni
