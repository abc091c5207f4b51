#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace omni::test {

/// Slow restatements of the ops in double precision, straight from their definitions.

/// x [m, k] times the transpose of w [n, k], plus bias [n] if any.
std::vector<double> reference_linear(std::span<const float> x, std::span<const float> w, std::span<const float> bias,
                                     std::int64_t m, std::int64_t n, std::int64_t k);

/// The values that rows keep when they are made ready for quantised weights: see `linear_input`.
std::vector<float> reference_quantised(std::span<const float> x);

struct reference_attention_args {
  std::span<const float> query; // [heads, head_dim]
  std::span<const float> key;   // [tokens, kv_heads, head_dim], the query's own token last
  std::span<const float> value;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t window = 0;
};
/// [heads, head_dim]
std::vector<double> reference_attention(const reference_attention_args& args);

/// x * sigmoid(x)
double reference_silu(double x);

/// max|a-b| / (1e-6 + rms(b)).
double relative_error(std::span<const float> a, std::span<const double> b);

} // namespace omni::test
