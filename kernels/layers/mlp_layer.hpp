#pragma once

#include "kernels/layers/block_config.hpp"
#include "kernels/layers/linear_layer.hpp"
#include "kernels/layers/observer.hpp"

#include <vector>

namespace omni {

/// down(silu(gate x) * up x)
struct gated_mlp_weights {
  linear_weights gate, up, down;
};

struct mlp_weights {
  gated_mlp_weights dense;                // if there are no experts
  linear_weights router;                  // [experts, hidden]
  std::vector<gated_mlp_weights> experts; // [experts]
  gated_mlp_weights shared;               // if there is a shared expert
  linear_weights shared_gate;             // [1, hidden]
};

/// The feed-forward part of one layer. x: [rows, hidden], normed. out: [rows, hidden] f32, written.
void mlp_layer(linear_rows& x, const tensor& out, const mlp_config& config, const mlp_weights& weights,
               const layer_observer& observe, const op_context& context);

} // namespace omni
