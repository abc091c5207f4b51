// Attention of a few rows of one kv head over paged keys and values.
#include "kernels/cpu/attention_kernels.hpp"

#include "kernels/cpu/isa.hpp"

#include <algorithm>
#include <limits>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/cpu/attention_kernels.cpp"
#include <hwy/foreach_target.h>

#include "kernels/cpu/simd-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace omni::HWY_NAMESPACE {

using cpu::attention_tile;

constexpr std::int64_t run_keys = 128; // keys whose softmax is taken at once
constexpr std::int64_t sub_block = kv_layer::sub_block;
constexpr std::int64_t run_blocks = run_keys / sub_block;
constexpr int most_rows = parts == 1 ? 12 : 4;
constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

/// What a tile knows while it walks over its keys.
template <class T, int R>
struct tile_state {
  explicit tile_state(const attention_tile& t)
      : tile(t), head_dim(t.args->cache.head_dim), value_dim(t.args->cache.value_dim()) {}

  const attention_tile& tile;
  std::int64_t head_dim;
  std::int64_t value_dim;
  std::int64_t last[R];                                // last key that a row sees
  std::int64_t first[R];                               // first one
  float largest[R];                                    // of the scores so far
  float total[R];                                      // of e^(score - largest)
  alignas(64) float query[R][kv_layer::most_head_dim]; // scaled
  alignas(64) float scores[R][run_keys];               // of one run; then e^(score - largest of the run)
  alignas(64) float out[R][kv_layer::most_head_dim];   // sum of weights times values so far
  alignas(64) float run_out[R][kv_layer::most_head_dim];
  const T* blocks[run_blocks]; // sub-blocks of one run: keys, then values
};

template <class T, int R>
HWY_INLINE void start(tile_state<T, R>& s) {
  const auto& a = *s.tile.args;
  const std::int64_t heads = a.query[1], group = heads / a.cache.kv_heads;
  for (std::int64_t m = 0; m < R; ++m) {
    // Rows that the tile lacks repeat its last one; they are computed and not stored.
    const std::int64_t row = s.tile.first_row + std::min(m, s.tile.rows - 1);
    const std::int64_t query = row / group, head = s.tile.kv_head * group + row % group;
    s.last[m] = s.tile.sequence->position + (a.causal ? query : s.tile.sequence->rows - 1);
    s.first[m] = a.window > 0 ? std::max<std::int64_t>(0, s.last[m] - a.window + 1) : 0;
    s.largest[m] = minus_infinity;
    s.total[m] = 0.0F;
    const float* const q = a.query.f32() + ((s.tile.sequence->first_row + query) * heads + head) * s.head_dim;
    for (std::int64_t d = 0; d < s.head_dim; ++d) s.query[m][d] = q[d] * a.scale;
  }
}

/// Finds the sub-blocks [from, to) of run `run`.
template <class T, int R>
HWY_INLINE void find_blocks(tile_state<T, R>& s, std::int64_t run, std::int64_t from, std::int64_t to) {
  const auto& cache = s.tile.args->cache;
  for (std::int64_t b = from; b < to; ++b) {
    const std::int64_t position = run * run_keys + b * sub_block, in_block = position % cache.block_size;
    const std::int64_t block = s.tile.sequence->block_table[static_cast<std::size_t>(position / cache.block_size)];
    const auto* const head =
        reinterpret_cast<const T*>(cache.data + block * cache.block_stride) + s.tile.kv_head * cache.head_values();
    s.blocks[b] = head + in_block / sub_block * cache.sub_block_values();
  }
}

/// Scores of `Blocks` sub-blocks from `b` on; a lane is a key.
template <int Blocks, class T, int R>
HWY_INLINE void score_blocks(tile_state<T, R>& s, std::int64_t b) {
  f32x16 score[R][Blocks];
  for (int m = 0; m < R; ++m)
    for (int i = 0; i < Blocks; ++i) score[m][i] = splat(0.0F);
  for (std::int64_t d = 0; d < s.head_dim; ++d) {
    f32x16 key[Blocks];
    for (int i = 0; i < Blocks; ++i) key[i] = load16(s.blocks[b + i] + d * sub_block);
    for (int m = 0; m < R; ++m)
      for (int i = 0; i < Blocks; ++i) score[m][i] = fma(key[i], splat(s.query[m][d]), score[m][i]);
  }
  for (int m = 0; m < R; ++m)
    for (int i = 0; i < Blocks; ++i) store16(score[m][i], s.scores[m] + (b + i) * sub_block);
}

/// Turns a row's scores in [begin, end) into weights; returns their sum and the largest score.
/// Keys outside [first, last] get weight 0.
struct run_softmax {
  float largest;
  float total;
};
HWY_INLINE run_softmax weigh(float* scores, std::int64_t begin, std::int64_t end, std::int64_t first,
                             std::int64_t last) {
  for (std::int64_t i = begin; i < std::min(first, end); ++i) scores[i] = minus_infinity;
  for (std::int64_t i = std::max(last + 1, begin); i < end; ++i) scores[i] = minus_infinity;
  f32x16 most = load16(scores + begin);
  for (std::int64_t i = begin + lanes16; i < end; i += lanes16) most = max(most, load16(scores + i));
  run_softmax result{max_lane(most), 0.0F};
  const f32x16 largest = splat(result.largest == minus_infinity ? 0.0F : result.largest);
  // Places outside of [begin, end) would add zeros: the sum is the same for any tile that the row is part of.
  f32x16 total = splat(0.0F);
  for (std::int64_t i = begin; i < end; i += lanes16) {
    const f32x16 weight = exp(load16(scores + i) - largest);
    store16(weight, scores + i);
    total = total + weight;
  }
  result.total = sum(total);
  return result;
}

/// run_out = sum over keys [begin, end) of weight * value for `Vectors` vectors of dims from `dim` on.
template <int Vectors, class T, int R>
HWY_INLINE void sum_values(tile_state<T, R>& s, std::int64_t begin, std::int64_t end, std::int64_t dim) {
  f32x16 sum[R][Vectors];
  for (int m = 0; m < R; ++m)
    for (int v = 0; v < Vectors; ++v) sum[m][v] = splat(0.0F);
  for (std::int64_t i = begin; i < end; ++i) {
    const T* const values = s.blocks[i / sub_block] + s.head_dim * sub_block + i % sub_block * s.value_dim + dim;
    f32x16 value[Vectors];
    for (int v = 0; v < Vectors; ++v) value[v] = load16(values + v * lanes16);
    for (int m = 0; m < R; ++m) {
      const f32x16 weight = splat(s.scores[m][i]);
      for (int v = 0; v < Vectors; ++v) sum[m][v] = fma(value[v], weight, sum[m][v]);
    }
  }
  for (int m = 0; m < R; ++m)
    for (int v = 0; v < Vectors; ++v) store16(sum[m][v], s.run_out[m] + dim + v * lanes16);
}

/// Merges a run into what came before, each scaled to the larger maximum.
template <class T, int R>
HWY_INLINE void merge(tile_state<T, R>& s, std::int64_t m, const run_softmax& run) {
  if (run.largest == minus_infinity) return; // the row sees no key of this run
  if (s.largest[m] == minus_infinity) {      // its first keys: the factors below would be 0 and 1
    s.largest[m] = run.largest;
    s.total[m] = run.total;
    std::copy_n(s.run_out[m], s.value_dim, s.out[m]);
    return;
  }
  const float largest = std::max(s.largest[m], run.largest);
  float factors[lanes16] = {s.largest[m] - largest, run.largest - largest};
  store16(exp(load16(factors)), factors);
  s.largest[m] = largest;
  s.total[m] = s.total[m] * factors[0] + run.total * factors[1];
  const f32x16 before = splat(factors[0]), now = splat(factors[1]);
  for (std::int64_t d = 0; d < s.value_dim; d += lanes16)
    store16(fma(load16(s.run_out[m] + d), now, load16(s.out[m] + d) * before), s.out[m] + d);
}

template <class T, int R>
HWY_INLINE void add_run(tile_state<T, R>& s, std::int64_t run) {
  // As many accumulators as the target's registers hold.
  constexpr int blocks_at_once = parts == 1 ? (R <= 4 ? 4 : R <= 8 ? 2 : 1) : (R <= 2 ? 2 : 1);
  constexpr int vectors_at_once = parts == 1 ? (R <= 4 ? 4 : R <= 6 ? 3 : 2) : (R <= 2 ? 2 : 1);
  const std::int64_t start_key = run * run_keys;
  const std::int64_t end_key = std::min(start_key + run_keys, s.last[R - 1] + 1) - start_key; // within the run
  const std::int64_t from = std::max<std::int64_t>(0, s.first[0] - start_key) / sub_block;
  const std::int64_t to = (end_key + sub_block - 1) / sub_block;
  find_blocks(s, run, from, to);
  std::int64_t b = from;
  for (; b + blocks_at_once <= to; b += blocks_at_once) score_blocks<blocks_at_once>(s, b);
  for (; b < to; ++b) score_blocks<1>(s, b);
  run_softmax softmax[R];
  for (std::int64_t m = 0; m < R; ++m)
    softmax[m] = weigh(s.scores[m], from * sub_block, to * sub_block, s.first[m] - start_key, s.last[m] - start_key);
  std::int64_t dim = 0;
  for (; dim + vectors_at_once * lanes16 <= s.value_dim; dim += vectors_at_once * lanes16)
    sum_values<vectors_at_once>(s, from * sub_block, end_key, dim);
  for (; dim < s.value_dim; dim += lanes16) sum_values<1>(s, from * sub_block, end_key, dim);
  for (std::int64_t m = 0; m < R; ++m) merge(s, m, softmax[m]);
}

template <class T, int R>
void attend_rows(const attention_tile& tile) {
  const auto& a = *tile.args;
  tile_state<T, R> s(tile);
  start(s);
  for (std::int64_t run = s.first[0] / run_keys; run <= s.last[R - 1] / run_keys; ++run) add_run(s, run);
  const std::int64_t heads = a.query[1], group = heads / a.cache.kv_heads;
  for (std::int64_t m = 0; m < tile.rows; ++m) {
    const std::int64_t row = tile.first_row + m;
    const std::int64_t head = tile.kv_head * group + row % group;
    float* const out = a.out.f32() + ((tile.sequence->first_row + row / group) * heads + head) * s.head_dim;
    for (std::int64_t d = 0; d < s.head_dim; ++d) out[d] = s.out[m][d] / s.total[m];
  }
}

template <class T>
void attend_any(const attention_tile& tile) {
  switch (tile.rows) {
  case 1:
    return attend_rows<T, 1>(tile);
  case 2:
    return attend_rows<T, 2>(tile);
  case 3:
    return attend_rows<T, 3>(tile);
  case 4:
    return attend_rows<T, 4>(tile);
  default:
    if constexpr (most_rows > 4) {
      if (tile.rows <= 6) return attend_rows<T, 6>(tile);
      return tile.rows <= 8 ? attend_rows<T, 8>(tile) : attend_rows<T, 12>(tile);
    }
  }
}

void attend_tile(const attention_tile& tile) {
  if (tile.args->cache.type == dtype::f16)
    attend_any<hwy::float16_t>(tile);
  else
    attend_any<float>(tile);
}

std::int64_t attention_rows() { return most_rows; }

template <class T>
void store_token(const float* key, const float* value, const kv_layer& cache, T* out, std::int64_t column) {
  const f32x16 most = splat(65504.0F), least = splat(-65504.0F);
  T* const value_out = out + cache.head_dim * sub_block + column * cache.value_dim();
  for (std::int64_t d = 0; d < cache.head_dim; d += lanes16) {
    const std::int64_t count = std::min<std::int64_t>(lanes16, cache.head_dim - d);
    float keys[lanes16] = {}, values[lanes16] = {};
    std::copy_n(key + d, count, keys);
    std::copy_n(value + d, count, values);
    const bool half = sizeof(T) == 2;
    alignas(32) T stored[lanes16];
    store16(half ? max(least, min(most, load16(keys))) : load16(keys), stored);
    store16(half ? max(least, min(most, load16(values))) : load16(values), value_out + d);
    for (std::int64_t i = 0; i < count; ++i) out[(d + i) * sub_block + column] = stored[i];
  }
}

void store_kv_token(const float* key, const float* value, const kv_layer& cache, std::byte* at, std::int64_t column) {
  if (cache.type == dtype::f16)
    store_token(key, value, cache, reinterpret_cast<hwy::float16_t*>(at), column);
  else
    store_token(key, value, cache, reinterpret_cast<float*>(at), column);
}

} // namespace omni::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace omni {
HWY_EXPORT(attend_tile);
HWY_EXPORT(attention_rows);
HWY_EXPORT(store_kv_token);

namespace cpu {

void attend(const attention_tile& tile) { HWY_DYNAMIC_DISPATCH(attend_tile)(tile); }
std::int64_t attention_tile_rows() { return HWY_DYNAMIC_DISPATCH(attention_rows)(); }
void store_kv(const float* key, const float* value, const kv_layer& cache, std::byte* sub_block, std::int64_t column) {
  HWY_DYNAMIC_DISPATCH(store_kv_token)(key, value, cache, sub_block, column);
}

} // namespace cpu
} // namespace omni
#endif
