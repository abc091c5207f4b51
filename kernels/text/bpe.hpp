#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

namespace omni::text {

/// Byte pair merging: starts from one symbol per byte and joins, again and again, the adjacent pair with the lowest
/// rank, the leftmost of equal ones, until no adjacent pair has a rank. Immutable once built.
class bpe {
public:
  static constexpr std::int32_t no_symbol = -1;
  static constexpr std::size_t max_piece_bytes = std::size_t(1) << 30U;

  /// `byte_ids[b]` is the symbol of byte b, or `no_symbol`: then the byte is left out.
  bpe(const std::array<std::int32_t, 256>& byte_ids, std::size_t merges);

  /// Gives the pair the next rank; a pair that is added again keeps the later one. Ids are not negative. To be called
  /// at most `merges` times.
  void add_merge(std::int32_t left, std::int32_t right, std::int32_t merged);

  /// Memory that one thread reuses from piece to piece.
  struct scratch {
    struct symbol {
      std::int32_t id; // no_symbol once it was joined to its left neighbour
      std::int32_t previous;
      std::int32_t next;  // -1 at the end
      std::uint32_t rank; // of the pair with `next`
    };
    std::vector<symbol> symbols;
    std::vector<std::uint64_t> queue; // rank << 32 | position of the left symbol
  };

  /// Appends the ids of `piece`, at most max_piece_bytes long, in n log n time.
  void encode(std::string_view piece, scratch& memory, std::vector<std::int32_t>& out) const;

private:
  static constexpr std::uint32_t no_rank = 0xFFFFFFFFU;
  struct merge {
    std::uint64_t pair; // left << 32 | right
    std::uint32_t rank; // no_rank: the slot is free
    std::int32_t merged;
  };
  [[nodiscard]] std::size_t slot_of(std::uint64_t pair) const;
  [[nodiscard]] const merge& find(std::int32_t left, std::int32_t right) const;
  void rank_pair(scratch& memory, std::int32_t at) const;

  std::array<std::int32_t, 256> byte_ids_;
  std::vector<merge> table_; // open addressing, a power of two, at most half full
  std::uint32_t next_rank_ = 0;
};

} // namespace omni::text
