#include "kernels/text/bpe.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>
#include <bit>
#include <functional>

namespace omni::text {
namespace {

std::uint64_t pair_of(std::int32_t left, std::int32_t right) {
  return std::uint64_t(static_cast<std::uint32_t>(left)) << 32U | static_cast<std::uint32_t>(right);
}

} // namespace

bpe::bpe(const std::array<std::int32_t, 256>& byte_ids, std::size_t merges)
    : byte_ids_(byte_ids), table_(std::bit_ceil(2 * merges + 2), merge{0, no_rank, no_symbol}) {}

std::size_t bpe::slot_of(std::uint64_t pair) const {
  const std::size_t mask = table_.size() - 1;
  std::uint64_t mixed = pair * 0x9E3779B97F4A7C15U;
  mixed ^= mixed >> 32U;
  std::size_t slot = mixed & mask;
  while (table_[slot].rank != no_rank && table_[slot].pair != pair) slot = (slot + 1) & mask;
  return slot;
}

const bpe::merge& bpe::find(std::int32_t left, std::int32_t right) const {
  return table_[slot_of(pair_of(left, right))];
}

void bpe::add_merge(std::int32_t left, std::int32_t right, std::int32_t merged) {
  OMNI_CHECK(next_rank_ < table_.size() / 2, "no more merges than announced");
  table_[slot_of(pair_of(left, right))] = {pair_of(left, right), next_rank_++, merged};
}

void bpe::rank_pair(scratch& memory, std::int32_t at) const {
  auto& symbol = memory.symbols[static_cast<std::size_t>(at)];
  symbol.rank = no_rank;
  if (symbol.next < 0) return;
  symbol.rank = find(symbol.id, memory.symbols[static_cast<std::size_t>(symbol.next)].id).rank;
  if (symbol.rank == no_rank) return;
  memory.queue.push_back(std::uint64_t(symbol.rank) << 32U | static_cast<std::uint32_t>(at));
  std::push_heap(memory.queue.begin(), memory.queue.end(), std::greater<>());
}

void bpe::encode(std::string_view piece, scratch& memory, std::vector<std::int32_t>& out) const {
  OMNI_CHECK(piece.size() <= max_piece_bytes, "a piece fits 32-bit positions");
  auto& symbols = memory.symbols;
  symbols.clear();
  memory.queue.clear();
  for (const char byte : piece) {
    const std::int32_t id = byte_ids_[static_cast<unsigned char>(byte)];
    const auto at = static_cast<std::int32_t>(symbols.size());
    if (id != no_symbol) symbols.push_back({id, at - 1, at + 1, no_rank});
  }
  if (symbols.empty()) return;
  symbols.back().next = -1;
  for (std::size_t at = 0; at + 1 < symbols.size(); ++at) rank_pair(memory, static_cast<std::int32_t>(at));
  while (!memory.queue.empty()) {
    std::pop_heap(memory.queue.begin(), memory.queue.end(), std::greater<>());
    const std::uint64_t best = memory.queue.back();
    memory.queue.pop_back();
    const auto at = static_cast<std::int32_t>(best & 0xFFFFFFFFU);
    auto& left = symbols[static_cast<std::size_t>(at)];
    // An entry is stale once its left symbol was swallowed or got another neighbour.
    if (left.id == no_symbol || left.rank != best >> 32U) continue;
    auto& right = symbols[static_cast<std::size_t>(left.next)];
    left.id = find(left.id, right.id).merged;
    right.id = no_symbol;
    left.next = right.next;
    if (left.next >= 0) symbols[static_cast<std::size_t>(left.next)].previous = at;
    rank_pair(memory, at);
    if (left.previous >= 0) rank_pair(memory, left.previous);
  }
  for (std::int32_t at = 0; at >= 0; at = symbols[static_cast<std::size_t>(at)].next)
    out.push_back(symbols[static_cast<std::size_t>(at)].id);
}

} // namespace omni::text
