#include "kernels/layers/decoder_block.hpp"

namespace omni {

void decoder_block(const tensor& x, const tensor& pending, bool first, const block_config& c, const block_weights& w,
                   const kv_layer& cache, const step_rows& step, const layer_observer& observe,
                   const op_context& context) {
  const workspace::scope scope(context.scratch);
  const tensor normed = context.scratch.take(dtype::f32, x.extents);
  linear_rows attention_rows({x, first ? tensor() : pending, w.attention_norm, c.norm_epsilon, normed}, context);
  attention_layer(attention_rows, pending, c.attention, c.norm_epsilon, w.attention, cache, step, observe, context);
  linear_rows mlp_rows({x, pending, w.mlp_norm, c.norm_epsilon, normed}, context);
  mlp_layer(mlp_rows, pending, c.mlp, w.mlp, observe, context);
}

} // namespace omni
