#include "actors/router.hpp"

#include <algorithm>

namespace omni {
namespace {

using choice = replica_registry::choice;

/// splitmix64: one 64-bit state, good enough to spread load.
std::uint64_t next_random(std::uint64_t& state) {
  std::uint64_t value = state += 0x9e3779b97f4a7c15ULL;
  value = (value ^ (value >> 30)) * 0xbf58476d1ce4e5b9ULL;
  value = (value ^ (value >> 27)) * 0x94d049bb133111ebULL;
  return value ^ (value >> 31);
}

} // namespace

std::optional<replica_id> router::pick(stage_id stage, std::span<const choice> choices) {
  if (choices.empty()) return std::nullopt;
  if (policy_ == routing_policy::random) return choices[next_random(state_) % choices.size()].replica;
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
