#include "kernels/ops/attention.hpp"

#include "kernels/cpu/attention_kernels.hpp"
#include "kernels/cpu/cpu_backend.hpp"
#include "kernels/cpu/parallel.hpp"

#include <algorithm>

namespace omni::cpu {

void cpu_backend::write_kv(const write_kv_args& args, const op_context& context) const {
  const auto& cache = args.cache;
  const std::int64_t width = cache.kv_heads * cache.head_dim;
  for (const auto& sequence : args.sequences) {
    for_ranges(context, sequence.rows, static_cast<double>(width) * 1.5, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t position = sequence.position + i, row = sequence.first_row + i;
        const std::int64_t block = sequence.block_table[static_cast<std::size_t>(position / cache.block_size)];
        const std::int64_t in_block = position % cache.block_size;
        for (std::int64_t h = 0; h < cache.kv_heads; ++h) {
          const std::int64_t values =
              h * cache.head_values() + in_block / kv_layer::sub_block * cache.sub_block_values();
          std::byte* const at = cache.data + block * cache.block_bytes() + values * info(cache.type).block_bytes;
          store_kv(args.key.f32() + row * width + h * cache.head_dim,
                   args.value.f32() + row * width + h * cache.head_dim, cache, at, in_block % kv_layer::sub_block);
        }
      }
    });
  }
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
