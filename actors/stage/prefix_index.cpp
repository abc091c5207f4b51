#include "actors/stage/prefix_index.hpp"

#include "actors/mix.hpp"
#include "kernels/core/check.hpp"

#include <algorithm>

namespace omni {

prefix_index::record_map::const_iterator prefix_index::locate(std::uint64_t hash, prefix_id parent,
                                                              std::span<const std::int32_t> tokens) const {
  auto [at, end] = records_.equal_range(hash);
  for (; at != end; ++at)
    if (at->second.parent == parent && std::ranges::equal(at->second.tokens, tokens)) return at;
  return records_.end();
}

prefix_index::entry prefix_index::insert(prefix_id parent, std::span<const std::int32_t> tokens, block_id block) {
  const auto hash = mix_tokens(parent, tokens);
  if (const auto known = locate(hash, parent, tokens); known != records_.end())
    return {known->second.prefix, known->second.block};
  records_.emplace(hash, record{++last_prefix_, parent, {tokens.begin(), tokens.end()}, block});
  of_block_.emplace(block, hash);
  return {last_prefix_, block};
}

std::optional<prefix_index::entry> prefix_index::find(prefix_id parent, std::span<const std::int32_t> tokens) const {
  const auto known = locate(mix_tokens(parent, tokens), parent, tokens);
  if (known == records_.end()) return std::nullopt;
  return entry{known->second.prefix, known->second.block};
}

std::vector<prefix_index::entry> prefix_index::longest(std::span<const std::int32_t> tokens, std::int32_t block_size,
                                                       std::size_t max_blocks) const {
  std::vector<entry> run;
  const auto step = std::size_t(block_size);
  prefix_id parent = empty_prefix;
  while (run.size() < max_blocks && (run.size() + 1) * step <= tokens.size()) {
    const auto next = find(parent, tokens.subspan(run.size() * step, step));
    if (!next) break;
    run.push_back(*next);
    parent = next->prefix;
  }
  return run;
}

void prefix_index::erase(block_id block) {
  const auto known = of_block_.find(block);
  if (known == of_block_.end()) return;
  auto [at, end] = records_.equal_range(known->second);
  while (at != end && at->second.block != block) ++at;
  OMNI_CHECK(at != end, "each block that is known has a record");
  records_.erase(at);
  of_block_.erase(known);
}

} // namespace omni
