#pragma once

#include "messages/ids.hpp"

#include <cstddef>
#include <cstdint>
#include <list>
#include <map>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

namespace omni {

/// Remembers which prompts each replica of a text stage was given, to guess whose KV cache holds the beginning of the
/// next one. Plain data; the orchestrator owns the only one.
///
/// It is a guess about a cache elsewhere, perhaps in another process: the replica may have dropped a block, or not have
/// computed it yet, and hashes may collide. Only speed depends on it, never a result: the replica looks up by itself.
class prefix_memory {
public:
  using key = std::pair<stage_id, replica_id>;
  /// The full blocks of a prompt, in order: each a hash of its tokens and of all before them.
  using chain = std::vector<std::uint64_t>;

  /// Compares prompts in blocks of `block_size` tokens, whatever size the replicas' own blocks have.
  explicit prefix_memory(std::int32_t block_size) : block_size_(std::size_t(block_size)) {}

  /// Remembers for a replica from now on, at most the `tokens` that its cache holds.
  void add(const key& which, std::int64_t tokens);
  void forget(const key& which) { replicas_.erase(which); }

  /// Empty while nothing is remembered for any replica.
  [[nodiscard]] chain blocks_of(std::span<const std::int32_t> prompt) const;
  /// A replica is given this prompt. What was not used for longest makes room for it, ends before beginnings. Nothing
  /// happens for a replica that was not added.
  void remember(const key& which, const chain& prompt);
  /// How many blocks at the start of `prompt` the replica was given before; 0 for one that was not added.
  [[nodiscard]] std::int32_t held(const key& which, const chain& prompt) const;
  /// The same if it is half of the prompt or more, else 0: a beginning that most prompts share, such as a system
  /// prompt, is no reason to leave another replica idle.
  [[nodiscard]] std::int32_t worth(const key& which, const chain& prompt) const;

private:
  struct memory {
    std::size_t capacity = 0;       // blocks
    std::list<std::uint64_t> order; // the one to forget first is in front
    std::unordered_map<std::uint64_t, std::list<std::uint64_t>::iterator> places;
  };

  std::size_t block_size_;
  std::map<key, memory> replicas_;
};

} // namespace omni
