#include "kernels/layers/encoder_block.hpp"

#include <cmath>
#include <numeric>

namespace omni {
namespace {

constexpr std::int64_t block_rows = 16;

std::int64_t blocks_of(std::int64_t rows) { return (rows + block_rows - 1) / block_rows; }

void attention_part(const tensor& normed, const tensor& out, const encoder_config& c, const encoder_weights& w,
                    const encoder_rows& rows, const op_context& context) {
  const workspace::scope scope(context.scratch);
  const std::int64_t count = normed.rows(), head_dim = c.hidden / c.heads;
  const auto take = [&] { return context.scratch.take(dtype::f32, {count, c.heads, head_dim}); };
  const auto flat = [&](const tensor& t) { return tensor(t.f32(), {count, c.hidden}); };
  const tensor query = take(), key = take(), value = take(), mixed = take();
  linear_rows input(normed, context);
  const linear_job jobs[] = {{input.times(w.query), {}, flat(query)},
                             {input.times(w.key), {}, flat(key)},
                             {input.times(w.value), {}, flat(value)}};
  linear(jobs, context);
  store_qkv({query, key, value, rows.cos(), rows.sin(), nullptr, nullptr, 0.0F, rows.keys(), rows.runs()}, context);
  const float scale = 1.0F / std::sqrt(static_cast<float>(head_dim));
  attention({query, rows.keys(), rows.runs(), scale, 0, mixed, false}, context);
  linear_rows heads(flat(mixed), context);
  linear({heads.times(w.out), {}, out}, context);
}

void mlp_part(const tensor& normed, const tensor& out, const encoder_config& c, const encoder_weights& w,
              const op_context& context) {
  const workspace::scope scope(context.scratch);
  const tensor inner = context.scratch.take(dtype::f32, {normed.rows(), c.ffn});
  linear_rows input(normed, context);
  linear({input.times(w.fc1), {}, inner}, context);
  activate({c.f, inner.f32(), inner.f32(), inner.rows(), inner.columns()}, context);
  linear_rows inner_rows(inner, context);
  linear({inner_rows.times(w.fc2), {}, out}, context);
}

} // namespace

encoder_rows::encoder_rows(const std::vector<std::int64_t>& runs, const encoder_config& config, const tensor& cos,
                           const tensor& sin, const op_context& context)
    : cos_(cos), sin_(sin) {
  std::int64_t rows = 0, blocks = 0;
  for (const auto run : runs) blocks += blocks_of(run);
  blocks_.resize(static_cast<std::size_t>(blocks));
  std::iota(blocks_.begin(), blocks_.end(), 0);
  std::int64_t first_block = 0;
  for (const auto run : runs) {
    runs_.push_back(
        {rows, run, 0,
         std::span(blocks_).subspan(static_cast<std::size_t>(first_block), static_cast<std::size_t>(blocks_of(run)))});
    first_block += blocks_of(run);
    rows += run;
  }
  keys_ = {nullptr, dtype::f32, blocks, 0, block_rows, config.heads, config.hidden / config.heads};
  keys_.block_stride = keys_.block_bytes();
  keys_.data = static_cast<std::byte*>(context.scratch.take(dtype::i8, {blocks * keys_.block_stride}).data);
  if (!cos_.empty()) return;
  cos_ = sin_ = context.scratch.take(dtype::f32, {1});
  cos_.extents = sin_.extents = {rows, 0};
}

void normed_rows(const tensor& x, const tensor& pending, const layer_norm_weights& w, float epsilon, const tensor& out,
                 const op_context& context) {
  layer_norm_args args;
  args.x = x.f32();
  args.add = pending.empty() ? nullptr : pending.f32();
  args.gamma = w.weight;
  args.beta = w.bias;
  args.out = out.f32();
  args.rows = x.rows();
  args.channels = x.columns();
  args.epsilon = epsilon;
  args.sum = pending.empty() ? nullptr : x.f32();
  layer_norm(args, context);
}

void encoder_block(const tensor& x, const tensor& pending, bool first, const encoder_config& c,
                   const encoder_weights& w, const encoder_rows& rows, const layer_observer& observe,
                   const op_context& context) {
  const workspace::scope scope(context.scratch);
  const tensor normed = context.scratch.take(dtype::f32, x.extents);
  normed_rows(x, first ? tensor() : pending, w.attention_norm, c.norm_epsilon, normed, context);
  attention_part(normed, pending, c, w, rows, context);
  normed_rows(x, pending, w.mlp_norm, c.norm_epsilon, normed, context);
  mlp_part(normed, pending, c, w, context);
  if (observe.to == nullptr) return;
  for (std::int64_t i = 0; i < x.values(); ++i) normed.f32()[i] = x.f32()[i] + pending.f32()[i];
  observe("hidden", normed);
}

} // namespace omni
