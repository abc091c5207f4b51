#pragma once

#include "kernels/core/op_context.hpp"

#include <cstdint>

namespace omni {

/// Full attention with learned relative positions near the diagonal, shared by the heads (VITS text encoder):
///   score(i, j) = q_i . (k_j + relative_k[j - i + window]) with the second term only for |j - i| <= window,
///   p = softmax over j, out_i = sum over j of p_ij (v_j + relative_v[j - i + window]), likewise.
/// The scale 1 / sqrt(dim) is part of q.
struct relative_attention_args {
  const float* q = nullptr;          // [rows, heads, dim]
  const float* k = nullptr;          // [rows, heads, dim]
  const float* v = nullptr;          // [rows, heads, dim]
  const float* relative_k = nullptr; // [2 * window + 1, dim]
  const float* relative_v = nullptr; // [2 * window + 1, dim]
  float* out = nullptr;              // [rows, heads, dim] written
  std::int64_t rows = 0;
  std::int64_t heads = 0;
  std::int64_t dim = 0;
  std::int64_t window = 0;
};
void relative_attention(const relative_attention_args& args, const op_context& context);

} // namespace omni
