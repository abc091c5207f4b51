#include "actors/stage/block_manager.hpp"

#include "kernels/core/check.hpp"

#include <ranges>

namespace omni {

block_manager::block_manager(std::int32_t blocks, std::int32_t block_size, bool prefix_caching)
    : block_size_(block_size), prefix_caching_(prefix_caching), references_(std::size_t(blocks)),
      place_in_cached_(std::size_t(blocks)) {
  OMNI_CHECK(blocks > 0 && block_size > 0, "a KV cache has blocks");
  for (block_id block = blocks; block-- > 0;) empty_.push_back(block);
}

double block_manager::usage() const { return 1.0 - double(free()) / double(total()); }

std::int32_t block_manager::blocks_for(std::size_t tokens) const {
  return std::int32_t((tokens + std::size_t(block_size_) - 1) / std::size_t(block_size_));
}

std::vector<prefix_index::entry> block_manager::match(std::span<const std::int32_t> tokens,
                                                      std::span<const content_mark> marks) const {
  if (!prefix_caching_ || tokens.empty()) return {};
  return index_.longest(tokens, block_size_, (tokens.size() - 1) / std::size_t(block_size_), marks);
}

std::int32_t block_manager::cost(std::size_t tokens, std::span<const prefix_index::entry> known) const {
  std::int32_t taken = blocks_for(tokens) - std::int32_t(known.size());
  for (const auto& entry : known) taken += references(entry.block) == 0;
  return taken;
}

void block_manager::acquire(holding& into, std::size_t tokens, std::span<const prefix_index::entry> known) {
  OMNI_CHECK(into.blocks.empty(), "a sequence acquires its blocks once");
  // Known blocks first: taking a fresh block might evict one of them otherwise.
  for (const auto& entry : known) {
    add_reference(entry.block);
    into.blocks.push_back(entry.block);
    into.prefix = entry.prefix;
  }
  into.published = known.size();
  while (std::int32_t(into.blocks.size()) < blocks_for(tokens))
    OMNI_CHECK(extend(into), "blocks are acquired only when enough are free");
}

bool block_manager::extend(holding& into) {
  if (free() == 0) return false;
  const auto block = take_fresh();
  add_reference(block);
  into.blocks.push_back(block);
  return true;
}

void block_manager::publish(holding& of, std::span<const std::int32_t> tokens, std::size_t computed,
                            std::span<const content_mark> marks) {
  if (!prefix_caching_) return;
  const auto size = std::size_t(block_size_);
  std::vector<std::int32_t> made;
  for (; (of.published + 1) * size <= computed; ++of.published)
    of.prefix =
        index_.insert(of.prefix, block_key(tokens, marks, of.published * size, size, made), of.blocks[of.published])
            .prefix;
}

void block_manager::release(holding& from) {
  for (const auto block : std::views::reverse(from.blocks)) drop_reference(block);
  from = {};
}

block_id block_manager::take_fresh() {
  if (!empty_.empty()) {
    const auto block = empty_.back();
    empty_.pop_back();
    return block;
  }
  const auto block = cached_.front();
  cached_.pop_front();
  index_.erase(block);
  return block;
}

void block_manager::add_reference(block_id block) {
  if (references_[std::size_t(block)]++ == 0 && index_.contains(block))
    cached_.erase(place_in_cached_[std::size_t(block)]);
}

void block_manager::drop_reference(block_id block) {
  OMNI_CHECK(references(block) > 0, "a block is let go as often as it was taken");
  if (--references_[std::size_t(block)] > 0) return;
  if (index_.contains(block)) {
    place_in_cached_[std::size_t(block)] = cached_.insert(cached_.end(), block);
  } else {
    empty_.push_back(block);
  }
}

} // namespace omni
