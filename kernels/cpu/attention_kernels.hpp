#pragma once

#include "kernels/ops/attention.hpp"

#include <cstdint>

namespace omni::cpu {

/// Queries of one sequence and one kv head: rows are (query, head of the group), query first. A tile is a run of them.
struct attention_tile {
  const attention_args* args = nullptr;
  const sequence_rows* sequence = nullptr;
  std::int64_t kv_head = 0;
  std::int64_t first_row = 0; // in (query, head) order
  std::int64_t rows = 0;      // at most attention_tile_rows()
};

std::int64_t attention_tile_rows();
void attend(const attention_tile& tile);

/// Stores one token's key and value of one kv head into its sub-block; `column` is its place among the 16.
void store_kv(const float* key, const float* value, const kv_layer& cache, std::byte* sub_block, std::int64_t column);

} // namespace omni::cpu
