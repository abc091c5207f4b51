#pragma once

#include "actors/stage/prefix_index.hpp"

#include <cstdint>
#include <list>
#include <span>
#include <vector>

namespace omni {

/// The KV blocks of one replica: who uses which, which are free, and what the free ones still hold.
///
/// A block is used (references > 0), or cached (nobody uses it, but the prefix index knows its content; the one that
/// was let go first is taken first), or empty. Cached and empty blocks are both free.
class block_manager {
public:
  /// What a sequence holds: its blocks in order, and how far they are known to the prefix index.
  struct holding {
    std::vector<block_id> blocks;
    std::size_t published = 0;       // leading blocks that were offered to the index
    prefix_id prefix = empty_prefix; // of those
  };

  block_manager(std::int32_t blocks, std::int32_t block_size, bool prefix_caching);

  /// Blocks at the start of `tokens` that are known; all but the last token count, since that one must be computed to
  /// get the next. Changes nothing.
  [[nodiscard]] std::vector<prefix_index::entry> match(std::span<const std::int32_t> tokens,
                                                       std::span<const content_mark> marks = {}) const;
  /// Fresh blocks that would be needed to hold `tokens` of which `known` are found; those of `known` that nobody uses
  /// leave the free ones too.
  [[nodiscard]] std::int32_t cost(std::size_t tokens, std::span<const prefix_index::entry> known) const;
  /// Takes `known` and enough fresh blocks for `tokens` tokens. The holding must be empty and `cost` <= free.
  void acquire(holding& into, std::size_t tokens, std::span<const prefix_index::entry> known);
  /// Adds one fresh block; false if none is free.
  bool extend(holding& into);
  /// Tells the index of the blocks that became full: the first `computed` of `tokens` are in the holding's blocks.
  void publish(holding& of, std::span<const std::int32_t> tokens, std::size_t computed,
               std::span<const content_mark> marks = {});
  /// Lets all blocks go. The last one is forgotten first, since it is of no use without those before it.
  void release(holding& from);

  [[nodiscard]] std::int32_t total() const { return std::int32_t(references_.size()); }
  [[nodiscard]] std::int32_t free() const { return std::int32_t(empty_.size() + cached_.size()); }
  [[nodiscard]] std::int32_t block_size() const { return block_size_; }
  /// Fraction of the blocks that sequences use.
  [[nodiscard]] double usage() const;
  [[nodiscard]] std::int32_t blocks_for(std::size_t tokens) const;
  [[nodiscard]] std::int32_t references(block_id block) const { return references_[std::size_t(block)]; }

private:
  block_id take_fresh();
  void add_reference(block_id block);
  void drop_reference(block_id block);

  std::int32_t block_size_;
  bool prefix_caching_;
  std::vector<std::int32_t> references_;                       // [blocks]
  std::vector<block_id> empty_;                                // a stack
  std::list<block_id> cached_;                                 // next to be taken first
  std::vector<std::list<block_id>::iterator> place_in_cached_; // [blocks], valid while cached
  prefix_index index_;
};

} // namespace omni
