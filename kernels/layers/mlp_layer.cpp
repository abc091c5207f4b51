#include "kernels/layers/mlp_layer.hpp"

#include "kernels/ops/moe.hpp"

#include <cstring>

namespace omni {
namespace {

void dense_mlp(linear_rows& x, const tensor& out, std::int64_t width, const gated_mlp_weights& w,
               const layer_observer& observe, const op_context& context) {
  const workspace::scope scope(context.scratch);
  const tensor inner = context.scratch.take(dtype::f32, {out.rows(), width});
  const linear_job gated{x.times(w.up), x.times(w.gate), inner};
  observe("mlp_norm", x.rows());
  linear(gated, context);
  linear_rows inner_rows(inner, context);
  linear({inner_rows.times(w.down), {}, out}, context);
}

/// Where each (row, choice) goes when they are grouped by expert.
struct expert_groups {
  std::vector<std::int64_t> first; // [experts + 1] slots of each expert begin here
  std::vector<std::int64_t> rows;  // [rows * top] the row in each slot
};

expert_groups group_by_expert(const tensor& ids, std::int64_t experts, const tensor& slots) {
  expert_groups groups{std::vector<std::int64_t>(static_cast<std::size_t>(experts) + 1),
                       std::vector<std::int64_t>(static_cast<std::size_t>(ids.values()))};
  for (std::int64_t i = 0; i < ids.values(); ++i) ++groups.first[static_cast<std::size_t>(ids.i32()[i]) + 1];
  for (std::size_t e = 1; e < groups.first.size(); ++e) groups.first[e] += groups.first[e - 1];
  std::vector<std::int64_t> next(groups.first.begin(), groups.first.end() - 1);
  for (std::int64_t i = 0; i < ids.values(); ++i) {
    const std::int64_t slot = next[static_cast<std::size_t>(ids.i32()[i])]++;
    slots.i32()[i] = static_cast<std::int32_t>(slot);
    groups.rows[static_cast<std::size_t>(slot)] = i / ids.columns();
  }
  return groups;
}

/// The MLPs of all experts that were chosen, each over its own rows: gathered [slots, hidden] -> values [slots,
/// hidden].
void chosen_experts(const tensor& gathered, const tensor& values, const expert_groups& groups, std::int64_t width,
                    const std::vector<gated_mlp_weights>& experts, const op_context& context) {
  const tensor inner = context.scratch.take(dtype::f32, {gathered.rows(), width});
  const auto part = [](const tensor& all, std::int64_t first, std::int64_t rows) {
    return tensor(all.f32() + first * all.columns(), {rows, all.columns()});
  };
  std::vector<linear_rows> inputs;
  std::vector<linear_job> jobs;
  inputs.reserve(2 * experts.size());
  for (const bool down : {false, true}) {
    jobs.clear();
    for (std::size_t e = 0; e < experts.size(); ++e) {
      const std::int64_t first = groups.first[e], rows = groups.first[e + 1] - first;
      if (rows == 0) continue;
      const auto& w = experts[e];
      auto& input = inputs.emplace_back(part(down ? inner : gathered, first, rows), context);
      if (down)
        jobs.push_back({input.times(w.down), {}, part(values, first, rows)});
      else
        jobs.push_back({input.times(w.up), input.times(w.gate), part(inner, first, rows)});
    }
    linear(jobs, context);
  }
}

/// The expert of all tokens and the logits of its gate; empty if there is none.
struct shared_expert {
  tensor values;     // [rows, hidden]
  tensor gate_logit; // [rows, 1]
};

shared_expert run_shared_expert(linear_rows& x, const shape& out, const mlp_config& c, const mlp_weights& w,
                                const op_context& context) {
  if (c.shared_width == 0) return {};
  const shared_expert made{context.scratch.take(dtype::f32, out), context.scratch.take(dtype::f32, {out[0], 1})};
  const workspace::scope scope(context.scratch);
  const tensor inner = context.scratch.take(dtype::f32, {out[0], c.shared_width});
  const linear_job jobs[] = {{x.times(w.shared.up), x.times(w.shared.gate), inner},
                             {x.times(w.shared_gate), {}, made.gate_logit}};
  linear(jobs, context);
  linear_rows inner_rows(inner, context);
  linear({inner_rows.times(w.shared.down), {}, made.values}, context);
  return made;
}

void moe_mlp(linear_rows& x, const tensor& out, const mlp_config& c, const mlp_weights& w,
             const layer_observer& observe, const op_context& context) {
  const workspace::scope scope(context.scratch);
  const std::int64_t rows = out.rows(), hidden = out.columns();
  const tensor logits = context.scratch.take(dtype::f32, {rows, c.experts});
  const linear_job router{x.times(w.router), {}, logits};
  observe("mlp_norm", x.rows());
  linear(router, context);
  observe("router", logits);
  const tensor ids = context.scratch.take(dtype::i32, {rows, c.top});
  const tensor weights = context.scratch.take(dtype::f32, {rows, c.top});
  route({logits, c.normalise_top, ids, weights}, context);
  observe("topk_ids", ids);
  observe("topk_weights", weights);

  const tensor slots = context.scratch.take(dtype::i32, {rows, c.top});
  const expert_groups groups = group_by_expert(ids, c.experts, slots);
  const tensor gathered = context.scratch.take(dtype::f32, {rows * c.top, hidden});
  for (std::size_t slot = 0; slot < groups.rows.size(); ++slot)
    std::memcpy(gathered.f32() + static_cast<std::int64_t>(slot) * hidden, x.rows().f32() + groups.rows[slot] * hidden,
                static_cast<std::size_t>(hidden) * sizeof(float));
  const tensor values = context.scratch.take(dtype::f32, {rows * c.top, hidden});
  chosen_experts(gathered, values, groups, c.width, w.experts, context);
  const shared_expert shared = run_shared_expert(x, out.extents, c, w, context);
  combine_experts({values, slots, weights, shared.values, shared.gate_logit, out}, context);
}

} // namespace

void mlp_layer(linear_rows& x, const tensor& out, const mlp_config& config, const mlp_weights& weights,
               const layer_observer& observe, const op_context& context) {
  if (config.experts > 0)
    moe_mlp(x, out, config, weights, observe, context);
  else
    dense_mlp(x, out, config.width, weights.dense, observe, context);
  observe("mlp_out", out);
}

} // namespace omni
