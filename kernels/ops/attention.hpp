#pragma once

#include "kernels/core/op_context.hpp"
#include "kernels/core/tensor.hpp"

#include <cstdint>
#include <span>

namespace omni {

/// One layer's share of a paged cache of keys and values. Sub-blocks of 16 tokens, so that a vector lane is a token for
/// keys and a dim for values and no sum runs across lanes:
///   [blocks][kv_heads][block_size / 16] of { key [head_dim][16 tokens], value [16 tokens][value_dim] }
struct kv_layer {
  std::byte* data = nullptr;
  dtype type = dtype::f32; // F32 or F16
  std::int64_t blocks = 0;
  std::int64_t block_stride = 0; // bytes from block to block; at least block_bytes()
  std::int64_t block_size = 0;   // tokens, a multiple of 16
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;

  static constexpr std::int64_t sub_block = 16;
  static constexpr std::int64_t most_head_dim = 256;
  /// head_dim rounded up to whole vectors; the rest is zero.
  [[nodiscard]] std::int64_t value_dim() const { return (head_dim + 15) / 16 * 16; }
  /// Values of one sub-block, keys and values.
  [[nodiscard]] std::int64_t sub_block_values() const { return sub_block * (head_dim + value_dim()); }
  [[nodiscard]] std::int64_t head_values() const { return block_size / sub_block * sub_block_values(); }
  /// Bytes of this layer's share of a block.
  [[nodiscard]] std::int64_t block_bytes() const { return kv_heads * head_values() * info(type).block_bytes; }
};

/// Rows of one sequence in a step.
struct sequence_rows {
  std::int64_t first_row = 0;
  std::int64_t rows = 0;
  std::int64_t position = 0;                 // of the first row
  std::span<const std::int32_t> block_table; // covers position + rows tokens; each in [0, blocks)
};

/// Makes the rows of a step ready for attention: heads of q and k are RMS-normalised (Qwen3), the first `rotary` dims
/// of each are turned by the row's angles, pairs being (i, i + rotary/2), and keys and values are stored at their
/// positions. Halves are saturated, never infinite.
struct store_qkv_args {
  tensor query;                      // [rows, heads, head_dim] f32, changed
  tensor key;                        // [rows, kv_heads, head_dim] f32, changed
  tensor value;                      // [rows, kv_heads, head_dim] f32
  tensor cos;                        // [rows, rotary / 2] f32
  tensor sin;                        // [rows, rotary / 2] f32
  const float* query_norm = nullptr; // [head_dim], or null: no norm
  const float* key_norm = nullptr;
  float epsilon = 0.0F;
  kv_layer cache; // written
  std::span<const sequence_rows> sequences;
};
void store_qkv(const store_qkv_args& args, const op_context& context);

/// Attention of each row over its sequence's cache up to its own token, or, where nothing is hidden from it, up to the
/// last row of its sequence: softmax(scale q k^T) v in F32.
/// Query head h reads kv head h * kv_heads / heads. Keys are taken in runs of 128 positions, counted from position 0,
/// each run's softmax merged into the ones before; so a row's result does not depend on how a sequence was cut into
/// steps.
struct attention_args {
  tensor query; // [rows, heads, head_dim] f32
  kv_layer cache;
  std::span<const sequence_rows> sequences;
  float scale = 1.0F;      // usually 1 / sqrt(head_dim)
  std::int64_t window = 0; // keys that a row sees at most, its own included; 0: all
  tensor out;              // [rows, heads, head_dim] f32, written
  bool causal = true;
};
void attention(const attention_args& args, const op_context& context);

} // namespace omni
