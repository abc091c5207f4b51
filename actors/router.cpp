#include "actors/router.hpp"

#include "actors/mix.hpp"

#include <algorithm>

namespace omni {
namespace {

using choice = replica_registry::choice;

// How many more sequences than the idlest replica one may have to be chosen for its cache. One more slows the others
// little, and what it holds of the prompt need not be computed again. If more were allowed, a burst of equal prompts
// would fill one replica while others have nothing to do.
constexpr std::int32_t max_extra_load = 1;

/// The one to take under `least_queue_length`, or one that is just as good.
choice best_of(std::span<const choice> choices) {
  const auto limit = std::ranges::min(choices, {}, &choice::load).load + max_extra_load;
  return std::ranges::min(choices, [&](const choice& a, const choice& b) {
    if ((a.load > limit) != (b.load > limit)) return b.load > limit;
    return a.held != b.held ? a.held > b.held : a.load < b.load;
  });
}

} // namespace

std::optional<replica_id> router::pick(stage_id stage, std::span<const choice> choices) {
  if (choices.empty()) return std::nullopt;
  if (policy_ == routing_policy::random) return choices[mix64(state_++) % choices.size()].replica;
  const auto best = best_of(choices);
  const auto allowed = [&](const choice& one) {
    return policy_ == routing_policy::round_robin || (one.held == best.held && one.load == best.load);
  };
  // In turn: the first allowed one after the latest choice, from the start again if there is none.
  const auto last = last_.find(stage);
  const auto after = [&](const choice& one) { return last == last_.end() || one.replica > last->second; };
  auto found = std::ranges::find_if(choices, [&](const choice& one) { return allowed(one) && after(one); });
  if (found == choices.end()) found = std::ranges::find_if(choices, allowed);
  last_[stage] = found->replica;
  return found->replica;
}

} // namespace omni
