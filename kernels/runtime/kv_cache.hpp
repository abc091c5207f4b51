#pragma once

#include "kernels/core/buffer.hpp"
#include "kernels/ops/attention.hpp"

#include <span>

namespace omni {

/// Shape of the cache of one model.
struct kv_shape {
  std::int64_t layers = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  dtype type = dtype::f32;       // F32 or F16
  std::int64_t block_size = 0;   // tokens, a multiple of 16
  std::int64_t token_floats = 0; // F32 values that are kept for each token beside its keys and values

  /// Bytes of one block over all layers.
  [[nodiscard]] std::int64_t block_bytes() const;
};

/// Blocks of a cache of `cache_bytes`; 0 bytes: enough for so many sequences of 1024 tokens, at most 224 MiB. Throws
/// `load_error` where not one block fits, or more than can be numbered.
std::int32_t block_count(const kv_shape& shape, std::int64_t cache_bytes, std::int64_t sequences);

/// The bytes of keys and values of one replica; which block belongs to whom is the scheduler's business. A block keeps
/// all layers of its tokens together, so memory is touched in proportion to the blocks in use, whole huge pages at a
/// time.
class kv_cache {
public:
  kv_cache(const kv_shape& shape, std::int64_t blocks);
  /// The share of layer `layer` in all blocks; see kv_layer.
  [[nodiscard]] kv_layer layer(std::int64_t layer) const;
  /// What is kept beside keys and values, [token_floats], of the token at `position` of the sequence that holds
  /// `blocks`.
  [[nodiscard]] float* token(std::span<const std::int32_t> blocks, std::int64_t position) const;

private:
  kv_shape shape_;
  std::int64_t blocks_;
  buffer memory_; // [blocks][layers][kv_heads]
};

} // namespace omni
