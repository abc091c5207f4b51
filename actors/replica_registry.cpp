#include "actors/replica_registry.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>
#include <string>

namespace omni {
namespace {

std::string name_of(stage_id stage, replica_id replica) {
  return "replica " + std::to_string(replica.value) + " of stage " + std::to_string(stage.value);
}

} // namespace

bool replica_registry::live(const key& id) const {
  const auto at = members_.find(id);
  return at != members_.end() && at->second.state != replica_state::lost;
}

bool replica_registry::long_lost(const member& one, time_us now) {
  return one.state == replica_state::lost && now - one.since > lost_shown_us;
}

expected<void> replica_registry::check(const candidate& who) const {
  if (who.stage.value < 0 || std::size_t(who.stage.value) >= stages_)
    return fail(errc::not_found, "There is no stage " + std::to_string(who.stage.value) +
                                     ": the pipeline has stages 0 to " + std::to_string(std::int64_t(stages_) - 1) +
                                     ".");
  if (who.wanted && who.wanted->value < 0)
    return fail(errc::invalid_request, "A replica id cannot be negative: leave it out to get the lowest free one.");
  for (const auto& [id, one] : members_)
    if (id.first == who.stage && one.state != replica_state::lost && one.fingerprint != who.fingerprint)
      return fail(errc::replica_conflict,
                  "The model differs from that of " + name_of(id.first, id.second) +
                      ", which serves this stage: start it with the same checkpoint and settings.");
  return {};
}

expected<replica_registry::place> replica_registry::join(const candidate& who) {
  if (const auto good = check(who); !good) return tl::unexpected(good.error());
  replica_id id = who.wanted.value_or(replica_id{0});
  if (!who.wanted)
    while (live({who.stage, id})) ++id.value;
  const key where{who.stage, id};
  if (live(where)) {
    if (members_.at(where).identity == who.identity) return place{id, engines_.at(where), false};
    return fail(errc::replica_conflict,
                "The id of " + name_of(who.stage, id) + " is taken by another replica: choose another id or none.");
  }
  const auto engine = engines_.try_emplace(where, engine_index(engines_.size())).first->second;
  members_[where] = {replica_state::starting, who.identity, who.fingerprint, who.address, who.now, 0};
  return place{id, engine, true};
}

void replica_registry::serve(stage_id stage, replica_id replica) {
  auto& one = members_.at({stage, replica});
  OMNI_CHECK(one.state == replica_state::starting, "only a replica that starts can begin to serve");
  one.state = replica_state::serving;
}

expected<void> replica_registry::drain(stage_id stage, replica_id replica) {
  if (!live({stage, replica}))
    return fail(errc::not_found, "There is no " + name_of(stage, replica) + ": see the list of replicas.");
  members_.at({stage, replica}).state = replica_state::draining;
  return {};
}

void replica_registry::depart(stage_id stage, replica_id replica, time_us now) {
  std::erase_if(members_, [&](const auto& entry) { return long_lost(entry.second, now); });
  const auto at = members_.find({stage, replica});
  if (at == members_.end()) return;
  if (at->second.state == replica_state::draining) {
    members_.erase(at);
  } else {
    at->second.state = replica_state::lost;
    at->second.load = 0;
    at->second.since = now;
  }
}

void replica_registry::add_load(stage_id stage, replica_id replica, std::int32_t sequences) {
  const auto at = members_.find({stage, replica});
  if (at == members_.end() || at->second.state == replica_state::lost) return;
  at->second.load += sequences;
  OMNI_CHECK(at->second.load >= 0, "as many sequences are unbound as were bound");
}

std::vector<replica_registry::choice> replica_registry::choices(stage_id stage) const {
  std::vector<choice> found;
  for (const auto& [id, one] : members_)
    if (id.first == stage && one.state == replica_state::serving) found.push_back({id.second, one.load});
  return found;
}

std::optional<replica_state> replica_registry::state(stage_id stage, replica_id replica) const {
  const auto at = members_.find({stage, replica});
  return at == members_.end() ? std::nullopt : std::optional(at->second.state);
}

std::int32_t replica_registry::load(stage_id stage, replica_id replica) const {
  const auto at = members_.find({stage, replica});
  return at == members_.end() ? 0 : at->second.load;
}

std::vector<replica_status> replica_registry::list(const std::vector<std::int32_t>& max_running, time_us now) const {
  std::vector<replica_status> lines;
  for (const auto& [id, one] : members_) {
    if (long_lost(one, now)) continue;
    const auto running = std::min(one.load, max_running[std::size_t(id.first.value)]);
    lines.push_back({id.first, id.second, one.state, running, one.load - running, one.address,
                     in_seconds(now - one.since), one.fingerprint});
  }
  return lines;
}

} // namespace omni
