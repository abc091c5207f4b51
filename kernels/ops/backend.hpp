#pragma once

#include "kernels/ops/attention.hpp"
#include "kernels/ops/conv.hpp"
#include "kernels/ops/conv_pointwise.hpp"
#include "kernels/ops/embed.hpp"
#include "kernels/ops/linear.hpp"
#include "kernels/ops/moe.hpp"
#include "kernels/ops/norm.hpp"
#include "kernels/ops/relative_attention.hpp"

#include <span>

namespace omni {

/// All that a device can compute, on one page. Each op has its own header with shapes and contract; models call the
/// free functions there, which check the shapes and come here. Stateless, so any number of threads may share one.
class backend {
public:
  virtual ~backend() = default;

  // Rows of embeddings and matrix products.
  virtual void embed(const embed_args&, const op_context&) const = 0;
  virtual linear_input prepare_linear(const prepare_linear_args&, const op_context&) const = 0;
  virtual void linear(std::span<const linear_job>, const op_context&) const = 0;

  // Around attention.
  virtual void rms_norm(const rms_norm_args&, const op_context&) const = 0;
  virtual void store_qkv(const store_qkv_args&, const op_context&) const = 0;
  virtual void attention(const attention_args&, const op_context&) const = 0;

  // Mixture of experts.
  virtual void route(const route_args&, const op_context&) const = 0;
  virtual void combine_experts(const combine_experts_args&, const op_context&) const = 0;

  // Speech and pictures: convolutions over time and what stands between matrices.
  virtual void conv(std::span<const conv_job>, const op_context&) const = 0;
  virtual void conv_sum(std::span<const conv_job>, const op_context&) const = 0;
  virtual void conv_to_mono(const conv_to_mono_args&, const op_context&) const = 0;
  virtual void conv_depthwise(const conv_depthwise_args&, const op_context&) const = 0;
  virtual void activate(const activate_args&, const op_context&) const = 0;
  virtual void layer_norm(const layer_norm_args&, const op_context&) const = 0;
  virtual void tanh_sigmoid_gate(const tanh_sigmoid_gate_args&, const op_context&) const = 0;
  virtual void relative_attention(const relative_attention_args&, const op_context&) const = 0;
};

/// The CPU's backend; instruction sets are chosen at run time (kernels/cpu/isa.hpp).
const backend& cpu_device();

} // namespace omni
