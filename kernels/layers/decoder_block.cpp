#include "kernels/layers/decoder_block.hpp"

#include "kernels/ops/norm.hpp"

namespace omni {

void decoder_block(const tensor& x, const tensor& pending, bool first, const block_config& c, const block_weights& w,
                   const kv_layer& cache, const step_rows& step, const layer_observer& observe,
                   const op_context& context) {
  const workspace::scope scope(context.scratch);
  const tensor normed = context.scratch.take(dtype::f32, x.extents);
  rms_norm({x, first ? tensor() : pending, w.attention_norm, c.norm_epsilon, normed}, context);
  observe("attn_norm", normed);
  attention_layer(normed, pending, c.attention, c.norm_epsilon, w.attention, cache, step, observe, context);
  rms_norm({x, pending, w.mlp_norm, c.norm_epsilon, normed}, context);
  observe("mlp_norm", normed);
  mlp_layer(normed, pending, c.mlp, w.mlp, observe, context);
}

} // namespace omni
