#include "actors/prefix_memory.hpp"

#include "actors/mix.hpp"

#include <algorithm>
#include <ranges>

namespace omni {
namespace {

// More than any cache has; holds what another process claims against the memory of this one (about 70 bytes a block).
constexpr std::int64_t max_blocks = 1 << 20;

} // namespace

void prefix_memory::add(const key& which, std::int64_t tokens) {
  const auto blocks = std::clamp<std::int64_t>(tokens / std::int64_t(block_size_), 0, max_blocks);
  replicas_[which].capacity = std::size_t(blocks);
}

prefix_memory::chain prefix_memory::blocks_of(std::span<const std::int32_t> prompt) const {
  chain blocks;
  if (replicas_.empty()) return blocks;
  std::uint64_t before = 0;
  for (; prompt.size() >= block_size_; prompt = prompt.subspan(block_size_))
    blocks.push_back(before = mix_tokens(before, prompt.first(block_size_)));
  return blocks;
}

void prefix_memory::remember(const key& which, const chain& prompt) {
  const auto known = replicas_.find(which);
  if (known == replicas_.end()) return;
  auto& [capacity, order, places] = known->second;
  // From the end, so that the beginning is the latest used: a block whose beginning is forgotten is of no use.
  for (const auto block : prompt | std::views::take(std::ptrdiff_t(capacity)) | std::views::reverse) {
    const auto [place, fresh] = places.try_emplace(block);
    if (fresh)
      place->second = order.insert(order.end(), block);
    else
      order.splice(order.end(), order, place->second);
  }
  for (; order.size() > capacity; order.pop_front()) places.erase(order.front());
}

std::int32_t prefix_memory::held(const key& which, const chain& prompt) const {
  const auto known = replicas_.find(which);
  if (known == replicas_.end()) return 0;
  const auto& places = known->second.places;
  const auto missing = std::ranges::find_if_not(prompt, [&](auto block) { return places.contains(block); });
  return std::int32_t(missing - prompt.begin());
}

std::int32_t prefix_memory::worth(const key& which, const chain& prompt) const {
  const auto blocks = held(which, prompt);
  return 2 * std::size_t(blocks) >= prompt.size() ? blocks : 0;
}

} // namespace omni
