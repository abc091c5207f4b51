#pragma once

#include "kernels/layers/rope_angles.hpp"
#include "kernels/models/decoder/decoder_config.hpp"
#include "kernels/models/decoder/decoder_weights.hpp"
#include "kernels/runtime/kv_cache.hpp"

#include <span>

namespace omni {

/// A row whose embedding comes from a sound or a picture in place of the table of tokens.
struct media_row {
  std::int32_t row = 0;
  /// [1 + adds, hidden]: the embedding, then what is added to the residual stream after layers 0, 1, ...
  const float* values = nullptr;
  std::int32_t adds = 0;
};

/// Rows of several sequences on their way through the blocks. Spans are the caller's.
struct stack_step {
  tensor x;                                  // [rows, hidden] f32: embeddings; changed
  tensor pending;                            // [rows, hidden] f32, written: the residual stream becomes x + pending
  std::span<const rope_position> positions;  // [rows]
  std::span<const sequence_rows> sequences;  // cover all rows
  const kv_cache* cache = nullptr;           // written
  std::span<const media_row> media;          // only their adds are read
  tensor accepted;                           // [media, hidden] f32, written: see decoder_config::accept_layer
  const tensor_observer* observer = nullptr; // for tests
};

/// The blocks of a decoder and the norm after them. A view: configuration and weights must outlive it.
class decoder_stack {
public:
  decoder_stack(const decoder_config& config, const decoder_weights& weights);

  /// Runs all blocks. Scratch memory is taken in the caller's workspace scope.
  void run(const stack_step& step, const op_context& context) const;
  /// The last norm of `rows` of the residual stream, for `linear_rows` or `rms_norm`; takes scratch memory.
  [[nodiscard]] rms_norm_args last_norm(const stack_step& step, std::span<const std::int32_t> rows,
                                        const op_context& context) const;

  /// A cache for these blocks, with `block_size` tokens in each of its own; with room for what is accepted of a token.
  [[nodiscard]] kv_shape cache_shape(std::int64_t block_size) const;
  [[nodiscard]] std::int64_t hidden() const { return config_.hidden; }

private:
  const decoder_config& config_;
  const decoder_weights& weights_;
  rope_angles rope_;
};

} // namespace omni
