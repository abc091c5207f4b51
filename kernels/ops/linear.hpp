#pragma once

#include "kernels/core/op_context.hpp"
#include "kernels/core/tensor.hpp"
#include "kernels/ops/norm.hpp"
#include "kernels/quant/packed_weight.hpp"

#include <span>

namespace omni {

/// Rows made ready for linear ops, once for all that read them. Quantised: signed bytes with one F32 scale for each 32
/// neighbours (scale = largest magnitude / 127, rounded to nearest even); a value that dwarfs its block may be kept
/// apart in F32. The order in memory belongs to the backend.
struct linear_input {
  bool quantised = false;
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  const std::byte* data = nullptr; // in the workspace scope where it was made, or the rows themselves
};

struct prepare_linear_args {
  tensor x;                            // [rows, columns] f32; written if there is a norm
  bool quantised = false;              // for quantised weights; columns are then a multiple of 32
  const rms_norm_args* norm = nullptr; // done first, while rows are at hand; its `out` is `x`
};

/// x weight^T + bias
struct linear_part {
  const linear_input* x = nullptr;       // [m, k], prepared as the weight wants it
  const packed_weight* weight = nullptr; // [n, k]
  const float* bias = nullptr;           // [n] or null
};

/// out = product, or silu(gate) * product. The two read the same rows, perhaps prepared differently.
struct linear_job {
  linear_part product;
  linear_part gate; // no weight: no gate
  tensor out;       // [m, n] f32, written
};

/// Makes rows ready. The result lives as long as the enclosing workspace scope and `x`.
linear_input prepare_linear(const prepare_linear_args& args, const op_context& context);

/// Computes all jobs in one parallel region. Each output is one sum over k in increasing order, with the same roundings
/// whatever m is, so a row's result does not depend on the rows beside it.
void linear(std::span<const linear_job> jobs, const op_context& context);
inline void linear(const linear_job& job, const op_context& context) { linear(std::span(&job, 1), context); }

/// Whether a weight wants quantised rows.
[[nodiscard]] inline bool wants_quantised(const packed_weight& weight) { return weight.format.quantised(); }

} // namespace omni
