#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace omni {

/// Number of a KV block in its cache.
using block_id = std::int32_t;

/// Names the content of a block together with all that precedes it. Never reused, so a block whose parent was
/// forgotten cannot be found by accident. 0 is the start of every sequence.
using prefix_id = std::uint64_t;
inline constexpr prefix_id empty_prefix = 0;

/// Something begins at the token `at` that tokens alone do not tell: a picture, a sound. Equal contents have equal
/// digests, others never.
struct content_mark {
  std::size_t at = 0;
  std::array<std::int32_t, 8> digest{};
};

/// What tells a block from others after the same parent: its tokens, then the digests of what begins in it. `marks` are
/// in order of `at`; without any in the block it is a view of `tokens`, else of `made`.
std::span<const std::int32_t> block_key(std::span<const std::int32_t> tokens, std::span<const content_mark> marks,
                                        std::size_t first, std::size_t size, std::vector<std::int32_t>& made);

/// Knows which KV block holds the tokens that follow a given prefix. Blocks are found by a hash over the parent and the
/// key, and accepted only when parent and key are the same, so a collision is never a hit.
class prefix_index {
public:
  struct entry {
    prefix_id prefix;
    block_id block;
  };

  /// Notes that `block` holds what `key` says (of one full block) after `parent`. If another block is known for the
  /// same, that one stays and is returned.
  entry insert(prefix_id parent, std::span<const std::int32_t> key, block_id block);
  /// The block that holds what `key` says after `parent`.
  [[nodiscard]] std::optional<entry> find(prefix_id parent, std::span<const std::int32_t> key) const;
  /// The longest known run of full blocks at the start of `tokens`, at most `max_blocks`.
  [[nodiscard]] std::vector<entry> longest(std::span<const std::int32_t> tokens, std::int32_t block_size,
                                           std::size_t max_blocks, std::span<const content_mark> marks = {}) const;
  /// Forgets what `block` holds; nothing happens if it is not known.
  void erase(block_id block);

  [[nodiscard]] bool contains(block_id block) const { return of_block_.contains(block); }
  [[nodiscard]] std::size_t size() const { return of_block_.size(); }

private:
  struct record {
    prefix_id prefix;
    prefix_id parent;
    std::vector<std::int32_t> key;
    block_id block;
  };
  using record_map = std::unordered_multimap<std::uint64_t, record>;

  [[nodiscard]] record_map::const_iterator locate(std::uint64_t hash, prefix_id parent,
                                                  std::span<const std::int32_t> key) const;

  record_map records_;                                   // by hash of parent and key
  std::unordered_map<block_id, std::uint64_t> of_block_; // the hash
  prefix_id last_prefix_ = empty_prefix;
};

} // namespace omni
