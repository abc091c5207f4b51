#pragma once

#include "kernels/layers/decoder_block.hpp"
#include "kernels/models/decoder/decoder_config.hpp"
#include "kernels/models/decoder/weight_names.hpp"
#include "kernels/models/weight_reader.hpp"

#include <vector>

namespace omni {

/// All weights of a decoder, packed. Views into the arena, which lives beside them.
struct decoder_weights {
  weight_arena arena;
  packed_weight embedding;           // [vocab, hidden]
  packed_weight head;                // [vocab, hidden]; the same memory as `embedding` if tied
  const float* final_norm = nullptr; // [hidden]
  std::vector<block_weights> blocks;
};

/// Packs a checkpoint's tensors; those that no layer uses are ignored. `as_f32` turns every weight into F32.
/// Throws `load_error` naming file, tensor, expected and found.
decoder_weights load_decoder_weights(const decoder_config& config, const checkpoint& file, const tensor_names& names,
                                     bool as_f32);

/// The blocks and the last norm alone, for decoders that are fed otherwise than from a table of tokens.
void read_decoder_blocks(const decoder_config& config, weight_reader& from, const tensor_names& names,
                         decoder_weights& to);

/// A hash over names, types and shapes of all tensors and a sample of their bytes.
std::uint64_t fingerprint_of(const checkpoint& file);

} // namespace omni
