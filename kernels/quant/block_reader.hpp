#pragma once

#include "kernels/core/dtype.hpp"

#include <array>
#include <cstddef>
#include <cstdint>

namespace omni {

/// 32 neighbouring values of a quantised row, as unsigned integers with what turns them back (see weight_format).
struct quant_block {
  std::array<std::uint8_t, 32> values;
  std::array<float, 2> scale; // one, or one for each half
  float min = 0.0F;
};

/// Values 32*index .. 32*index+31 of a row of any GGUF block type. `row` may be unaligned.
/// Layouts and formulas: ggml `ggml-common.h`, `ggml-quants.c`.
quant_block read_quant_block(const std::byte* row, dtype type, std::int64_t index);

} // namespace omni
