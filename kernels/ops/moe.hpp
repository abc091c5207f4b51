#pragma once

#include "kernels/core/op_context.hpp"
#include "kernels/core/tensor.hpp"

namespace omni {

/// Chooses experts: softmax over all logits of a row, the `top` largest (the lower id on ties), best first.
struct route_args {
  tensor logits;          // [rows, experts] f32, overwritten
  bool normalise = false; // weights of a row are divided by their sum
  tensor ids;             // [rows, top] i32, written
  tensor weights;         // [rows, top] f32, written
};
void route(const route_args& args, const op_context& context);

/// out[r] = sum over j, in order, of weights[r, j] * values[slots[r, j]], plus sigmoid(shared_logit[r]) * shared[r].
struct combine_experts_args {
  tensor values;       // [rows * top, width] f32, rows grouped by expert
  tensor slots;        // [rows, top] i32: where the j-th expert's value of row r lies
  tensor weights;      // [rows, top] f32
  tensor shared;       // [rows, width] f32, or empty
  tensor shared_logit; // [rows, 1] f32, with `shared`
  tensor out;          // [rows, width] f32, written
};
void combine_experts(const combine_experts_args& args, const op_context& context);

} // namespace omni
