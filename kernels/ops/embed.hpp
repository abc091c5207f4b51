#pragma once

#include "kernels/core/op_context.hpp"
#include "kernels/core/tensor.hpp"
#include "kernels/quant/packed_weight.hpp"

namespace omni {

/// Rows of a table, dequantised on the way.
struct embed_args {
  const packed_weight* table = nullptr; // [vocab, width]
  tensor ids;                           // [rows] i32, each in [0, vocab)
  tensor out;                           // [rows, width] f32, written
};
void embed(const embed_args& args, const op_context& context);

} // namespace omni
