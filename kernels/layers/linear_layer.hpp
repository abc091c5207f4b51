#pragma once

#include "kernels/ops/linear.hpp"

#include <optional>

namespace omni {

/// y = x weight^T + bias. A view; the model's arena owns the memory.
struct linear_weights {
  packed_weight weight;        // [out, in]
  const float* bias = nullptr; // [out] or null
};

/// What linear layers read: the same rows once quantised and once as they are, each made when a weight first wants it.
/// Weights of one layer may have different types.
class linear_rows {
public:
  linear_rows(const tensor& x, const op_context& context) : x_(x), context_(context) {}
  /// The rows that a norm makes, when the first weight wants them.
  linear_rows(const rms_norm_args& norm, const op_context& context) : x_(norm.out), norm_(norm), context_(context) {}
  /// The product of the rows with `w`; valid in the workspace scope where this is called first.
  linear_part times(const linear_weights& w);
  /// The rows themselves, [rows, in] f32; with a norm, made by the first call of `times`.
  [[nodiscard]] const tensor& rows() const { return x_; }

private:
  tensor x_;
  std::optional<rms_norm_args> norm_; // still to be done
  const op_context& context_;
  linear_input made_[2];
};

} // namespace omni
