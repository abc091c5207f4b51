#pragma once

#include "kernels/core/tensor.hpp"

#include <cstdint>
#include <span>

namespace omni {

/// Writes all values of `from` as F32, whatever its type (block-quantised types are dequantised) and alignment.
/// `to` holds exactly `from.values()` values. Block formulas: GGUF, ggml `ggml-quants.c`.
void read_f32(const tensor& from, std::span<float> to);

/// The same for `rows` rows of `from`, beginning with `first_row`; a row is the last axis. `to` holds rows * columns
/// values.
void read_rows_f32(const tensor& from, std::int64_t first_row, std::int64_t rows, std::span<float> to);

/// Copies the rows of a q or k projection of a GGUF `llama` file into the order of Hugging Face files, in the type they
/// have. The file's rows are permuted, so that rope turns adjacent pairs: in a head, its row 2i+j is row
/// j*(head_dim/2)+i. `from` is [heads * head_dim, in]; `to` holds `from.bytes()` bytes.
void unpermute_rows(const tensor& from, std::int64_t head_dim, std::span<std::byte> to);

} // namespace omni
