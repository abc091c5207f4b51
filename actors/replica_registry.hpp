#pragma once

#include "messages/clock.hpp"
#include "messages/errc.hpp"
#include "messages/ids.hpp"
#include "messages/replica_status.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace omni {

/// Names one replica among all of an engine, in statistics. Flat, given at the first join, never given again.
using engine_index = std::int32_t;

inline constexpr time_us lost_shown_us = 600'000'000;

/// Knows which replicas serve each stage and how busy they are. Plain data; the orchestrator owns the only one.
///
/// A replica joins (`starting`), serves, and then either drains and leaves, or is lost. An id that left or was lost may
/// be taken again and keeps its engine index.
class replica_registry {
public:
  /// Who wants in.
  struct candidate {
    stage_id stage;
    std::optional<replica_id> wanted; // none: the lowest free id
    std::uint64_t identity = 0;       // tells this replica from any other, also from one of the same model
    std::uint64_t fingerprint = 0;    // of its model
    std::string address = {};         // of its process; empty: this one
    time_us now = 0;
  };
  struct place {
    replica_id replica;
    engine_index engine = 0;
    bool fresh = true; // false: it had joined before, nothing changed
  };
  /// A replica that may be given requests.
  struct choice {
    replica_id replica;
    std::int32_t load = 0; // sequences bound to it
    std::int32_t held = 0; // blocks at the start of the prompt that its KV cache holds, as far as one can guess
  };

  explicit replica_registry(std::size_t stages) : stages_(stages) {}

  /// Errors: `not_found` for a stage that does not exist; `replica_conflict` for an id that another live replica has,
  /// and for a model that differs from that of the stage's live replicas.
  expected<place> join(const candidate& who);
  /// It may be chosen from now on.
  void serve(stage_id stage, replica_id replica);
  /// It is not chosen any more. Errors: `not_found`.
  expected<void> drain(stage_id stage, replica_id replica);
  /// It is gone: after draining without a trace, else as `lost`, which is listed for `lost_shown_us`.
  void depart(stage_id stage, replica_id replica, time_us now);

  /// Binds (or, negative, unbinds) sequences.
  void add_load(stage_id stage, replica_id replica, std::int32_t sequences);

  /// Those that serve, in order of id; `held` is left for who knows the prompt.
  [[nodiscard]] std::vector<choice> choices(stage_id stage) const;
  [[nodiscard]] std::optional<replica_state> state(stage_id stage, replica_id replica) const;
  [[nodiscard]] std::int32_t load(stage_id stage, replica_id replica) const;
  /// In order of stage and id; `max_running[stage]` is what one step of a replica holds.
  [[nodiscard]] std::vector<replica_status> list(const std::vector<std::int32_t>& max_running, time_us now) const;

private:
  using key = std::pair<stage_id, replica_id>;
  struct member {
    replica_state state = replica_state::starting;
    std::uint64_t identity = 0;
    std::uint64_t fingerprint = 0;
    std::string address;
    time_us since = 0; // it joined or was lost
    std::int32_t load = 0;
  };

  [[nodiscard]] bool live(const key& id) const;
  [[nodiscard]] static bool long_lost(const member& one, time_us now);
  [[nodiscard]] expected<void> check(const candidate& who) const;

  std::size_t stages_;
  std::map<key, member> members_;
  std::map<key, engine_index> engines_; // for ever
};

} // namespace omni
