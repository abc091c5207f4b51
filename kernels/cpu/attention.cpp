#include "kernels/ops/attention.hpp"

#include "kernels/cpu/attention_kernels.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/parallel.hpp"
#include "kernels/cpu/vector_ops.hpp"

#include <algorithm>

namespace omni::cpu {

namespace {

/// Norm, if any, and rope of all heads of one row.
void turn_row(const tensor& x, std::int64_t row, const store_qkv_args& args, const float* norm) {
  const std::int64_t heads = x[1], head_dim = x[2], half = args.cos.columns();
  for (std::int64_t h = 0; h < heads; ++h) {
    float* const head = x.f32() + (row * heads + h) * head_dim;
    if (norm != nullptr) rms_norm_row(head, nullptr, norm, args.epsilon, head, head_dim);
    rotate_head(head, args.cos.f32() + row * half, args.sin.f32() + row * half, half);
  }
}

void store_row(const store_qkv_args& args, std::int64_t row, std::int64_t position, std::int64_t block) {
  const auto& cache = args.cache;
  const std::int64_t in_block = position % cache.block_size;
  for (std::int64_t h = 0; h < cache.kv_heads; ++h) {
    const std::int64_t head = (row * cache.kv_heads + h) * cache.head_dim;
    const std::int64_t values = h * cache.head_values() + in_block / kv_layer::sub_block * cache.sub_block_values();
    std::byte* const at = cache.data + block * cache.block_stride + values * info(cache.type).block_bytes;
    store_kv(args.key.f32() + head, args.value.f32() + head, cache, at, in_block % kv_layer::sub_block);
  }
}

} // namespace

void cpu_backend::store_qkv(const store_qkv_args& args, const op_context& context) const {
  const std::int64_t rows = args.key[0];
  const double cost_ns = 0.25 * static_cast<double>((args.query[1] + 8 * args.key[1]) * args.key[2]);
  for_ranges(context, rows, cost_ns, [&](std::int64_t begin, std::int64_t end) {
    for (const auto& s : args.sequences)
      for (std::int64_t row = std::max(begin, s.first_row); row < std::min(end, s.first_row + s.rows); ++row) {
        turn_row(args.query, row, args, args.query_norm);
        turn_row(args.key, row, args, args.key_norm);
        const std::int64_t position = s.position + row - s.first_row;
        store_row(args, row, position, s.block_table[static_cast<std::size_t>(position / args.cache.block_size)]);
      }
  });
}

void cpu_backend::attention(const attention_args& args, const op_context& context) const {
  const std::int64_t group = args.query[1] / args.cache.kv_heads, tile_rows = attention_tile_rows();
  // A chunk is one tile of one kv head of one sequence; chunks of a sequence follow each other.
  const auto tiles_of = [&](const sequence_rows& s) { return (s.rows * group + tile_rows - 1) / tile_rows; };
  std::int64_t chunks = 0;
  for (const auto& sequence : args.sequences) chunks += tiles_of(sequence) * args.cache.kv_heads;
  context.lane.parallel(chunks, [&](std::int64_t i) {
    const sequence_rows* sequence = args.sequences.data();
    for (; i >= tiles_of(*sequence) * args.cache.kv_heads; ++sequence) i -= tiles_of(*sequence) * args.cache.kv_heads;
    const std::int64_t first = i / args.cache.kv_heads * tile_rows;
    attend({&args, sequence, i % args.cache.kv_heads, first, std::min(tile_rows, sequence->rows * group - first)});
  });
}

} // namespace omni::cpu
