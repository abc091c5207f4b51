#include "kernels/layers/attention_layer.hpp"

#include <cmath>

namespace omni {

void attention_layer(linear_rows& x, const tensor& out, const attention_config& c, float norm_epsilon,
                     const attention_weights& w, const kv_layer& cache, const step_rows& step,
                     const layer_observer& observe, const op_context& context) {
  const workspace::scope scope(context.scratch);
  const std::int64_t rows = out.rows();
  const auto take_heads = [&](std::int64_t heads) {
    return context.scratch.take(dtype::f32, {rows, heads, c.head_dim});
  };
  const auto flat = [&](const tensor& t) { return tensor(t.f32(), {rows, t[1] * t[2]}); };
  const tensor query = take_heads(c.heads), key = take_heads(c.kv_heads), value = take_heads(c.kv_heads);
  const linear_job jobs[] = {
      {x.times(w.query), {}, flat(query)}, {x.times(w.key), {}, flat(key)}, {x.times(w.value), {}, flat(value)}};
  observe("attn_norm", x.rows());
  linear(jobs, context);
  store_qkv({query, key, value, step.cos, step.sin, w.query_norm, w.key_norm, norm_epsilon, cache, step.sequences},
            context);
  observe("q_rope", query);
  observe("k_rope", key);
  observe("v", value);

  const tensor mixed = take_heads(c.heads);
  const float scale = 1.0F / std::sqrt(static_cast<float>(c.head_dim));
  attention({query, cache, step.sequences, scale, c.window, mixed}, context);
  observe("attn_heads", mixed);
  linear_rows heads(flat(mixed), context);
  linear({heads.times(w.out), {}, out}, context);
  observe("attn_out", out);
}

} // namespace omni
