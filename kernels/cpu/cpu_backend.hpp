#pragma once

#include "kernels/ops/backend.hpp"

namespace omni::cpu {

/// Every op in its own file, cut into pieces for the lane; the arithmetic is in the kernels that Highway dispatches.
class cpu_backend final : public backend {
public:
  void embed(const embed_args& args, const op_context& context) const override;
  linear_input prepare_linear(const prepare_linear_args& args, const op_context& context) const override;
  void linear(std::span<const linear_job> jobs, const op_context& context) const override;
  void rms_norm(const rms_norm_args& args, const op_context& context) const override;
  void store_qkv(const store_qkv_args& args, const op_context& context) const override;
  void attention(const attention_args& args, const op_context& context) const override;
  void route(const route_args& args, const op_context& context) const override;
  void combine_experts(const combine_experts_args& args, const op_context& context) const override;
  void conv(std::span<const conv_job> jobs, const op_context& context) const override;
  void conv_sum(std::span<const conv_job> summands, const op_context& context) const override;
  void conv_to_mono(const conv_to_mono_args& args, const op_context& context) const override;
  void conv_depthwise(const conv_depthwise_args& args, const op_context& context) const override;
  void activate(const activate_args& args, const op_context& context) const override;
  void layer_norm(const layer_norm_args& args, const op_context& context) const override;
  void tanh_sigmoid_gate(const tanh_sigmoid_gate_args& args, const op_context& context) const override;
  void relative_attention(const relative_attention_args& args, const op_context& context) const override;
};

} // namespace omni::cpu
