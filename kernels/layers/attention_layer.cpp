#include "kernels/layers/attention_layer.hpp"

#include "kernels/ops/rope.hpp"

#include <cmath>

namespace omni {

void attention_layer(const tensor& x, const tensor& out, const attention_config& c, float norm_epsilon,
                     const attention_weights& w, const kv_layer& cache, const step_rows& step,
                     const layer_observer& observe, const op_context& context) {
  const workspace::scope scope(context.scratch);
  const std::int64_t rows = x.rows();
  const auto take_heads = [&](std::int64_t heads) {
    return context.scratch.take(dtype::f32, {rows, heads, c.head_dim});
  };
  const auto flat = [&](const tensor& t) { return tensor(t.f32(), {rows, t[1] * t[2]}); };
  const tensor query = take_heads(c.heads), key = take_heads(c.kv_heads), value = take_heads(c.kv_heads);
  linear_rows input(x, context);
  const linear_job jobs[] = {{input.times(w.query), {}, flat(query)},
                             {input.times(w.key), {}, flat(key)},
                             {input.times(w.value), {}, flat(value)}};
  linear(jobs, context);
  rope({query, step.cos, step.sin, w.query_norm, norm_epsilon}, context);
  rope({key, step.cos, step.sin, w.key_norm, norm_epsilon}, context);
  observe("q_rope", query);
  observe("k_rope", key);
  observe("v", value);
  write_kv({key, value, cache, step.sequences}, context);

  const tensor mixed = take_heads(c.heads);
  const float scale = 1.0F / std::sqrt(static_cast<float>(c.head_dim));
  attention({query, cache, step.sequences, scale, c.window, mixed}, context);
  observe("attn_heads", mixed);
  linear_rows heads(flat(mixed), context);
  linear({heads.times(w.out), {}, out}, context);
  observe("attn_out", out);
}

} // namespace omni
