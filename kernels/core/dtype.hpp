#pragma once

#include <cstdint>
#include <string_view>

namespace omni {

/// How numbers are stored, in memory and in checkpoint files. Types from `q4_0` on are blocks of GGUF: several values
/// share scales, so a row holds a whole number of blocks. Layouts: GGUF, ggml `ggml-common.h`.
enum class dtype : std::uint8_t {
  f32,
  f16,
  bf16,
  f64,
  i64,
  i32,
  i16,
  i8,
  u8,
  boolean,
  q4_0,
  q4_1,
  q5_0,
  q5_1,
  q8_0,
  q4_k,
  q5_k,
  q6_k,
};

struct dtype_info {
  std::string_view name;
  std::int32_t block_values; // values per block; 1 for plain types
  std::int32_t block_bytes;
};

/// Name and size of a type. Total over the enum.
constexpr dtype_info info(dtype type) {
  switch (type) {
  case dtype::f32: return {"F32", 1, 4};
  case dtype::f16: return {"F16", 1, 2};
  case dtype::bf16: return {"BF16", 1, 2};
  case dtype::f64: return {"F64", 1, 8};
  case dtype::i64: return {"I64", 1, 8};
  case dtype::i32: return {"I32", 1, 4};
  case dtype::i16: return {"I16", 1, 2};
  case dtype::i8: return {"I8", 1, 1};
  case dtype::u8: return {"U8", 1, 1};
  case dtype::boolean: return {"BOOL", 1, 1};
  case dtype::q4_0: return {"Q4_0", 32, 18};
  case dtype::q4_1: return {"Q4_1", 32, 20};
  case dtype::q5_0: return {"Q5_0", 32, 22};
  case dtype::q5_1: return {"Q5_1", 32, 24};
  case dtype::q8_0: return {"Q8_0", 32, 34};
  case dtype::q4_k: return {"Q4_K", 256, 144};
  case dtype::q5_k: return {"Q5_K", 256, 176};
  case dtype::q6_k: return {"Q6_K", 256, 210};
  }
  return {"?", 1, 1};
}

constexpr bool is_block_quantised(dtype type) { return info(type).block_values > 1; }

/// Bytes of one row of `columns` values. `columns` must be a multiple of the type's block.
constexpr std::int64_t row_bytes(dtype type, std::int64_t columns) {
  return columns / info(type).block_values * info(type).block_bytes;
}

} // namespace omni
