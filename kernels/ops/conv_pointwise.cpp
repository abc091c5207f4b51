#include "kernels/ops/conv_pointwise.hpp"

#include "kernels/core/check.hpp"
#include "kernels/ops/backend.hpp"

namespace omni {

void activate(const activate_args& args, const op_context& context) {
  OMNI_CHECK(args.rows >= 0 && args.channels > 0, "an activation needs rows of channels");
  OMNI_CHECK(args.f != activation::snake || (args.rate != nullptr && args.gain != nullptr), "snake has parameters");
  context.device.activate(args, context);
}

void layer_norm(const layer_norm_args& args, const op_context& context) {
  OMNI_CHECK(args.rows >= 0 && args.channels > 0, "layer_norm needs rows of channels");
  context.device.layer_norm(args, context);
}

void tanh_sigmoid_gate(const tanh_sigmoid_gate_args& args, const op_context& context) {
  OMNI_CHECK(args.rows >= 0 && args.channels > 0, "a gate needs rows of channels");
  context.device.tanh_sigmoid_gate(args, context);
}

} // namespace omni
