#include "kernels/models/decoder/decoder_stack.hpp"

#include "kernels/layers/decoder_block.hpp"

#include <cstring>

namespace omni {
namespace {

/// The rows of `from` that `which` names.
tensor gather(const tensor& from, std::span<const std::int32_t> which, const op_context& context) {
  const std::int64_t width = from.columns();
  const tensor rows = context.scratch.take(dtype::f32, {static_cast<std::int64_t>(which.size()), width});
  for (std::size_t i = 0; i < which.size(); ++i)
    std::memcpy(rows.f32() + static_cast<std::int64_t>(i) * width, from.f32() + which[i] * width,
                static_cast<std::size_t>(width) * sizeof(float));
  return rows;
}

/// Shows the residual stream after a layer, whose last part is only added by the next norm.
void observe_hidden(const layer_observer& to, const stack_step& step, const op_context& context) {
  if (to.to == nullptr) return;
  const workspace::scope scope(context.scratch);
  const tensor hidden = context.scratch.take(dtype::f32, step.x.extents);
  for (std::int64_t i = 0; i < hidden.values(); ++i) hidden.f32()[i] = step.x.f32()[i] + step.pending.f32()[i];
  to("hidden", hidden);
}

void keep_accepted(const stack_step& step) {
  const std::int64_t width = step.x.columns();
  for (std::size_t m = 0; m < step.media.size(); ++m) {
    const std::int64_t at = step.media[m].row * width;
    float* const out = step.accepted.f32() + static_cast<std::int64_t>(m) * width;
    for (std::int64_t i = 0; i < width; ++i) out[i] = step.x.f32()[at + i] + step.pending.f32()[at + i];
  }
}

/// What pictures add to the residual stream after layer `layer` (DeepStack).
void add_media(const stack_step& step, std::int64_t layer) {
  const std::int64_t width = step.x.columns();
  for (const auto& m : step.media) {
    if (layer >= m.adds) continue;
    float* const row = step.pending.f32() + m.row * width;
    for (std::int64_t i = 0; i < width; ++i) row[i] += m.values[(1 + layer) * width + i];
  }
}

} // namespace

decoder_stack::decoder_stack(const decoder_config& config, const decoder_weights& weights)
    : config_(config), weights_(weights), rope_(config.rope) {}

void decoder_stack::run(const stack_step& step, const op_context& context) const {
  const auto rows = static_cast<std::int64_t>(step.positions.size());
  const tensor cos = context.scratch.take(dtype::f32, {rows, rope_.dims() / 2});
  const tensor sin = context.scratch.take(dtype::f32, {rows, rope_.dims() / 2});
  rope_.fill(step.positions, cos, sin);
  const step_rows shared{cos, sin, step.sequences};
  for (std::size_t i = 0; i < weights_.blocks.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    const layer_observer observer{step.observer, layer};
    decoder_block(step.x, step.pending, i == 0, config_.blocks[i], weights_.blocks[i], step.cache->layer(layer), shared,
                  observer, context);
    observe_hidden(observer, step, context);
    if (layer + 1 == config_.accept_layer) keep_accepted(step);
    add_media(step, layer);
  }
}

rms_norm_args decoder_stack::last_norm(const stack_step& step, std::span<const std::int32_t> rows,
                                       const op_context& context) const {
  const tensor x = gather(step.x, rows, context), pending = gather(step.pending, rows, context);
  return {x, pending, weights_.final_norm, config_.norm_epsilon, context.scratch.take(dtype::f32, x.extents)};
}

kv_shape decoder_stack::cache_shape(std::int64_t block_size) const {
  const auto& a = config_.blocks.front().attention;
  // Keys and values are kept as exactly as the weights that make them.
  const bool f32 = weights_.blocks.front().attention.key.weight.format.layout == weight_layout::f32;
  return {static_cast<std::int64_t>(config_.blocks.size()), a.kv_heads, a.head_dim, f32 ? dtype::f32 : dtype::f16,
          block_size, config_.accept_layer > 0 ? config_.hidden : 0};
}

} // namespace omni
