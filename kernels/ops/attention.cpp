#include "kernels/ops/attention.hpp"

#include "kernels/ops/backend.hpp"

namespace omni {
namespace {

void check(const kv_layer& cache, std::span<const sequence_rows> sequences, std::int64_t rows) {
  OMNI_CHECK(cache.type == dtype::f32 || cache.type == dtype::f16, "keys and values are F32 or F16");
  OMNI_CHECK(cache.block_size > 0 && cache.block_size % kv_layer::sub_block == 0, "blocks are whole sub-blocks");
  OMNI_CHECK(cache.block_stride >= cache.block_bytes(), "blocks do not overlap");
  OMNI_CHECK(cache.head_dim > 0 && cache.head_dim <= kv_layer::most_head_dim, "heads have at most 256 dims");
  for (const auto& s : sequences) {
    OMNI_CHECK(s.first_row >= 0 && s.rows > 0 && s.first_row + s.rows <= rows, "a sequence's rows are in the batch");
    const std::int64_t needed = (s.position + s.rows + cache.block_size - 1) / cache.block_size;
    OMNI_CHECK(s.position >= 0 && static_cast<std::int64_t>(s.block_table.size()) >= needed, "blocks cover all tokens");
    for (std::int64_t i = 0; i < needed; ++i) {
      const auto block = s.block_table[static_cast<std::size_t>(i)];
      OMNI_CHECK(block >= 0 && block < cache.blocks, "blocks lie in the cache");
    }
  }
}

} // namespace

void store_qkv(const store_qkv_args& args, const op_context& context) {
  OMNI_CHECK(args.key.extents == args.value.extents && args.key.extents.rank() == 3, "a key and a value for each row");
  OMNI_CHECK(args.query.extents.rank() == 3 && args.query[0] == args.key[0] && args.query[2] == args.key[2],
             "a query for each row");
  OMNI_CHECK(args.key[1] == args.cache.kv_heads && args.key[2] == args.cache.head_dim, "heads are as in the cache");
  OMNI_CHECK(args.cos.extents == args.sin.extents && args.cos[0] == args.key[0], "a row of angles for each row");
  OMNI_CHECK(2 * args.cos.columns() <= args.key[2], "no more dims turn than a head has");
  check(args.cache, args.sequences, args.key[0]);
  context.device.store_qkv(args, context);
}

void attention(const attention_args& args, const op_context& context) {
  OMNI_CHECK(args.query.extents.rank() == 3 && args.out.extents == args.query.extents, "an output for each query");
  OMNI_CHECK(args.query[2] == args.cache.head_dim && args.query[1] % args.cache.kv_heads == 0,
             "heads share kv heads evenly");
  check(args.cache, args.sequences, args.query[0]);
  context.device.attention(args, context);
}

} // namespace omni
