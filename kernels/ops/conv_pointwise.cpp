#include "kernels/ops/conv_pointwise.hpp"

#include "kernels/core/check.hpp"
#include "kernels/cpu/conv_kernels.hpp"

namespace omni {

void layer_norm(const layer_norm_args& args, const op_context& context) {
  OMNI_CHECK(args.rows >= 0 && args.channels > 0, "layer_norm needs rows of channels");
  cpu::layer_norm(args, context);
}

void tanh_sigmoid_gate(const tanh_sigmoid_gate_args& args, const op_context& context) {
  OMNI_CHECK(args.rows >= 0 && args.channels > 0, "a gate needs rows of channels");
  cpu::tanh_sigmoid_gate(args, context);
}

} // namespace omni
