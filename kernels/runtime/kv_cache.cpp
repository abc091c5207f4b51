#include "kernels/runtime/kv_cache.hpp"

#include "kernels/core/error.hpp"

#include <algorithm>
#include <cstdint>
#include <string>

namespace omni {
namespace {

kv_layer layer_of(const kv_shape& s, std::int64_t blocks) {
  return {nullptr, s.type, blocks, 0, s.block_size, s.kv_heads, s.head_dim};
}

} // namespace

std::int64_t kv_shape::block_bytes() const {
  return layers * layer_of(*this, 1).block_bytes() +
         block_size * token_floats * static_cast<std::int64_t>(sizeof(float));
}

std::int32_t block_count(const kv_shape& shape, std::int64_t cache_bytes, std::int64_t sequences) {
  constexpr std::int64_t default_bytes = std::int64_t{224} << 20, default_tokens = 1024;
  const std::int64_t block_bytes = shape.block_bytes();
  const std::int64_t tokens = default_tokens * std::max<std::int64_t>(1, sequences);
  const std::int64_t blocks = cache_bytes > 0 ? cache_bytes / block_bytes
                                              : std::min((tokens + shape.block_size - 1) / shape.block_size,
                                                         std::max<std::int64_t>(1, default_bytes / block_bytes));
  if (blocks < 1 || blocks > INT32_MAX)
    throw load_error("kv_cache_memory_bytes is " + std::to_string(cache_bytes) + ", expected room for at least one block of " +
                     std::to_string(block_bytes) + " bytes and fewer than 2^31 blocks.");
  return static_cast<std::int32_t>(blocks);
}

kv_cache::kv_cache(const kv_shape& shape, std::int64_t blocks)
    : shape_(shape), blocks_(blocks), memory_(static_cast<std::size_t>(shape.block_bytes() * blocks)) {}

kv_layer kv_cache::layer(std::int64_t layer) const {
  kv_layer view = layer_of(shape_, blocks_);
  view.data = memory_.data() + layer * view.block_bytes();
  view.block_stride = shape_.block_bytes();
  return view;
}

float* kv_cache::token(std::span<const std::int32_t> blocks, std::int64_t position) const {
  const std::int64_t block = blocks[static_cast<std::size_t>(position / shape_.block_size)];
  std::byte* const values = layer(shape_.layers).data + block * shape_.block_bytes(); // behind the last layer
  return reinterpret_cast<float*>(values) + position % shape_.block_size * shape_.token_floats;
}

} // namespace omni
