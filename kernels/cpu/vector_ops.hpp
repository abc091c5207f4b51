#pragma once

#include "kernels/ops/norm.hpp"
#include "kernels/quant/packed_weight.hpp"

#include <cstdint>

namespace omni::cpu {

/// out[i] = silu(gate[i]) * x[i]
void gate_values(const float* gate, const float* x, float* out, std::int64_t count);
/// out[i] = a[i] + b[i]
void add_values(const float* a, const float* b, float* out, std::int64_t count);
/// out[i] += factor * x[i]
void add_scaled(const float* x, float factor, float* out, std::int64_t count);

/// out = x / sqrt(mean(x^2) + epsilon) * weight; `out` may be `x`. With `add`, x becomes x + add first.
void rms_norm_row(float* x, const float* add, const float* weight, float epsilon, float* out, std::int64_t width);

/// Rows [begin, end) of an rms_norm.
void rms_norm_rows(const rms_norm_args& args, std::int64_t begin, std::int64_t end);

/// Turns pairs (x[i], x[i + half]) by (cos[i], sin[i]).
void rotate_head(float* x, const float* cos, const float* sin, std::int64_t half);

/// values[i] = e^values[i] / sum
void softmax_row(float* values, std::int64_t count);

/// Row `row` of a packed weight, dequantised; `out` holds `columns` values.
void unpack_row(const packed_weight& w, std::int64_t row, float* out);

} // namespace omni::cpu
