#pragma once

#include "kernels/layers/encoder_block.hpp"
#include "kernels/models/weight_reader.hpp"

#include <string>

namespace omni::qwen3_omni {

inline layer_norm_weights read_norm(weight_reader& from, const std::string& module, std::int64_t width) {
  return {from.floats(module + ".weight", {width}), from.floats(module + ".bias", {width})};
}

/// out = weight x + bias, in scratch memory of the caller's scope.
inline tensor linear_out(const tensor& x, const linear_weights& w, const op_context& context) {
  const tensor out = context.scratch.take(dtype::f32, {x.rows(), w.weight.rows});
  linear_rows rows(x, context);
  linear({rows.times(w), {}, out}, context);
  return out;
}

/// gelu of it.
inline tensor gelu_out(const tensor& x, const linear_weights& w, const op_context& context) {
  const tensor out = linear_out(x, w, context);
  activate({activation::gelu, out.f32(), out.f32(), out.rows(), out.columns()}, context);
  return out;
}

} // namespace omni::qwen3_omni
