#pragma once

#include "kernels/layers/block_config.hpp"
#include "kernels/layers/linear_layer.hpp"
#include "kernels/layers/observer.hpp"
#include "kernels/ops/attention.hpp"

namespace omni {

struct attention_weights {
  linear_weights query, key, value, out;
  const float* query_norm = nullptr; // [head_dim], if qk_norm
  const float* key_norm = nullptr;
};

/// What all layers of a step share.
struct step_rows {
  tensor cos; // [rows, rotary / 2] f32
  tensor sin;
  std::span<const sequence_rows> sequences;
};

/// Self-attention of one layer: projections, rope, the rows' keys and values into `cache`, attention, out projection.
/// x: [rows, hidden], normed. out: [rows, hidden] f32, written.
void attention_layer(linear_rows& x, const tensor& out, const attention_config& config, float norm_epsilon,
                     const attention_weights& weights, const kv_layer& cache, const step_rows& step,
                     const layer_observer& observe, const op_context& context);

} // namespace omni
