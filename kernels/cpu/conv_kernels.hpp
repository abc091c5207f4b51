#pragma once

#include "kernels/ops/conv.hpp"
#include "kernels/ops/conv_pointwise.hpp"
#include "kernels/ops/relative_attention.hpp"

#include <span>

/// The CPU's side of the ops of speech models; contracts are those of the ops.
namespace omni::cpu {

void conv(std::span<const conv_job> jobs, const op_context& context);
void conv_in_turn(std::span<const conv_job> jobs, const op_context& context);
void conv_to_mono_tanh(const conv_to_mono_args& args, const op_context& context);
void conv_depthwise(const conv_depthwise_args& args, const op_context& context);
void layer_norm(const layer_norm_args& args, const op_context& context);
void tanh_sigmoid_gate(const tanh_sigmoid_gate_args& args, const op_context& context);
void relative_attention(const relative_attention_args& args, const op_context& context);

/// A piece of a convolution for one thread.
struct conv_tile {
  std::int64_t first_row = 0;
  std::int64_t end_row = 0;
  std::int64_t panel = 0; // which 32 output columns
};
void compute_tile(const conv_job& job, const conv_tile& tile);
/// Rows that the kernel of this machine holds in registers; tiles are best a multiple of it.
std::int64_t conv_block_rows();

/// Softmax over each row, in place; values [rows, columns] with row stride `stride`.
void softmax_rows(float* values, std::int64_t rows, std::int64_t columns, std::int64_t stride);

} // namespace omni::cpu
