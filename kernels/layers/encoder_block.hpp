#pragma once

#include "kernels/layers/linear_layer.hpp"
#include "kernels/layers/observer.hpp"
#include "kernels/ops/attention.hpp"
#include "kernels/ops/conv_pointwise.hpp"

#include <vector>

namespace omni {

/// Layer normalisation with scale and shift.
struct layer_norm_weights {
  const float* weight = nullptr;
  const float* bias = nullptr;
};

/// One pre-norm encoder block: x += attention(norm(x)); x += fc2(f(fc1(norm(x)))).
struct encoder_config {
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t ffn = 0;
  activation f = activation::gelu;
  float norm_epsilon = 0.0F;
};

struct encoder_weights {
  layer_norm_weights attention_norm;
  linear_weights query, key, value, out;
  layer_norm_weights mlp_norm;
  linear_weights fc1, fc2;
};

/// What all blocks of an encoder share: which rows see each other, and how they turn. Keys and values lie in scratch
/// memory, one layer after the other in the same place.
class encoder_rows {
public:
  /// `runs`: lengths of the runs of rows that see each other and no others, none 0. Scratch memory is taken in the
  /// caller's scope. `cos`, `sin`: [rows, turning / 2] f32, or empty if nothing turns.
  encoder_rows(const std::vector<std::int64_t>& runs, const encoder_config& config, const tensor& cos,
               const tensor& sin, const op_context& context);

  encoder_rows(const encoder_rows&) = delete;
  encoder_rows& operator=(const encoder_rows&) = delete;

  [[nodiscard]] std::span<const sequence_rows> runs() const { return runs_; }
  [[nodiscard]] const kv_layer& keys() const { return keys_; }
  [[nodiscard]] const tensor& cos() const { return cos_; }
  [[nodiscard]] const tensor& sin() const { return sin_; }

private:
  std::vector<std::int32_t> blocks_; // 0, 1, 2, ...
  std::vector<sequence_rows> runs_;
  kv_layer keys_;
  tensor cos_, sin_;
};

/// One block. The residual stream is x + pending: what a block's MLP adds is added by the next norm.
///   x:       [rows, hidden] f32, changed
///   pending: [rows, hidden] f32, changed; empty-handed before the first block (`first`)
void encoder_block(const tensor& x, const tensor& pending, bool first, const encoder_config& config,
                   const encoder_weights& weights, const encoder_rows& rows, const layer_observer& observe,
                   const op_context& context);

/// out = norm(x + pending), over rows of `w`'s width; `pending` may be empty. x becomes the sum.
void normed_rows(const tensor& x, const tensor& pending, const layer_norm_weights& w, float epsilon, const tensor& out,
                 const op_context& context);

} // namespace omni
