#include "actors/router.hpp"

#include "actors/mix.hpp"

#include <algorithm>

namespace omni {
namespace {

using choice = replica_registry::choice;

} // namespace

std::optional<replica_id> router::pick(stage_id stage, std::span<const choice> choices) {
  if (choices.empty()) return std::nullopt;
  if (policy_ == routing_policy::random) return choices[mix64(state_++) % choices.size()].replica;
  const auto least = std::ranges::min(choices, {}, &choice::load).load;
  const auto allowed = [&](const choice& one) { return policy_ == routing_policy::round_robin || one.load == least; };
  // In turn: the first allowed one after the latest choice, from the start again if there is none.
  const auto last = last_.find(stage);
  const auto after = [&](const choice& one) { return last == last_.end() || one.replica > last->second; };
  auto found = std::ranges::find_if(choices, [&](const choice& one) { return allowed(one) && after(one); });
  if (found == choices.end()) found = std::ranges::find_if(choices, allowed);
  last_[stage] = found->replica;
  return found->replica;
}

} // namespace omni
