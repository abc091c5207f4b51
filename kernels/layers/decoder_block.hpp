#pragma once

#include "kernels/layers/attention_layer.hpp"
#include "kernels/layers/block_config.hpp"
#include "kernels/layers/mlp_layer.hpp"

namespace omni {

struct block_weights {
  const float* attention_norm = nullptr; // [hidden]
  attention_weights attention;
  const float* mlp_norm = nullptr; // [hidden]
  mlp_weights mlp;
};

/// One decoder block. The residual stream is x + pending: what a block's MLP adds is added by the next norm.
///   x:       [rows, hidden] f32, changed
///   pending: [rows, hidden] f32, changed; empty-handed before the first block (`first`)
void decoder_block(const tensor& x, const tensor& pending, bool first, const block_config& config,
                   const block_weights& weights, const kv_layer& cache, const step_rows& step,
                   const layer_observer& observe, const op_context& context);

} // namespace omni
