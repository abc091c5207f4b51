#include "actors/stage/prefix_index.hpp"

#include "actors/mix.hpp"
#include "kernels/core/check.hpp"

#include <algorithm>

namespace omni {

std::span<const std::int32_t> block_key(std::span<const std::int32_t> tokens, std::span<const content_mark> marks,
                                        std::size_t first, std::size_t size, std::vector<std::int32_t>& made) {
  const auto block = tokens.subspan(first, size);
  const auto begin = std::ranges::lower_bound(marks, first, {}, &content_mark::at);
  if (begin == marks.end() || begin->at >= first + size) return block;
  made.assign(block.begin(), block.end());
  for (auto mark = begin; mark != marks.end() && mark->at < first + size; ++mark)
    made.insert(made.end(), mark->digest.begin(), mark->digest.end());
  return made;
}

prefix_index::record_map::const_iterator prefix_index::locate(std::uint64_t hash, prefix_id parent,
                                                              std::span<const std::int32_t> key) const {
  auto [at, end] = records_.equal_range(hash);
  for (; at != end; ++at)
    if (at->second.parent == parent && std::ranges::equal(at->second.key, key)) return at;
  return records_.end();
}

prefix_index::entry prefix_index::insert(prefix_id parent, std::span<const std::int32_t> key, block_id block) {
  const auto hash = mix_tokens(parent, key);
  if (const auto known = locate(hash, parent, key); known != records_.end())
    return {known->second.prefix, known->second.block};
  records_.emplace(hash, record{++last_prefix_, parent, {key.begin(), key.end()}, block});
  of_block_.emplace(block, hash);
  return {last_prefix_, block};
}

std::optional<prefix_index::entry> prefix_index::find(prefix_id parent, std::span<const std::int32_t> key) const {
  const auto known = locate(mix_tokens(parent, key), parent, key);
  if (known == records_.end()) return std::nullopt;
  return entry{known->second.prefix, known->second.block};
}

std::vector<prefix_index::entry> prefix_index::longest(std::span<const std::int32_t> tokens, std::int32_t block_size,
                                                       std::size_t max_blocks,
                                                       std::span<const content_mark> marks) const {
  std::vector<entry> run;
  std::vector<std::int32_t> made;
  const auto step = std::size_t(block_size);
  prefix_id parent = empty_prefix;
  while (run.size() < max_blocks && (run.size() + 1) * step <= tokens.size()) {
    const auto next = find(parent, block_key(tokens, marks, run.size() * step, step, made));
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
