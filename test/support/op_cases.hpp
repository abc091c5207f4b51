#pragma once

#include "kernels/core/dtype.hpp"

#include <cstdint>
#include <string>

namespace omni::test {

/// Cases of the ops of text decoders: one list for the tests on every instruction set and for the benchmarks.

struct linear_case {
  dtype type; // of the weight, as in a file
  std::int64_t rows, out, in;
  bool timed = false; // shapes of real models
};
inline std::string name_of(const linear_case& c) {
  return std::string(info(c.type).name) + "/" + std::to_string(c.rows) + "x" + std::to_string(c.out) + "x" +
         std::to_string(c.in);
}

// Odd sizes on purpose: short of a panel of 16 outputs and of a tile of rows, and past them.
inline constexpr linear_case linear_cases[] = {
    {dtype::f32, 1, 1, 1},
    {dtype::f32, 3, 17, 5},
    {dtype::f32, 8, 64, 48},
    {dtype::f32, 21, 100, 33},
    {dtype::f16, 1, 40, 7},
    {dtype::f16, 9, 96, 64},
    {dtype::bf16, 2, 33, 9},
    {dtype::bf16, 13, 48, 130},
    {dtype::q4_0, 1, 16, 32},
    {dtype::q4_0, 11, 50, 96},
    {dtype::q4_1, 1, 16, 64},
    {dtype::q4_1, 7, 47, 160},
    {dtype::q5_0, 5, 65, 64},
    {dtype::q5_1, 6, 31, 32},
    {dtype::q8_0, 1, 300, 64},
    {dtype::q8_0, 12, 20, 96},
    {dtype::q4_k, 4, 33, 256},
    {dtype::q5_k, 9, 18, 512},
    {dtype::q6_k, 3, 40, 256},
    {dtype::q6_k, 10, 16, 512},
    // SmolLM2-135M: q, gate and down for one stream, a batch of 16 and a prompt; the head.
    {dtype::q4_1, 1, 576, 576, true},
    {dtype::q4_1, 1, 1536, 576, true},
    {dtype::q4_1, 1, 576, 1536, true},
    {dtype::q4_1, 16, 1536, 576, true},
    {dtype::q4_1, 512, 1536, 576, true},
    {dtype::q4_1, 512, 576, 1536, true},
    {dtype::q8_0, 1, 49152, 576, true},
    {dtype::q8_0, 16, 49152, 576, true},
    {dtype::q6_k, 1, 4864, 1024, true},
    {dtype::bf16, 1, 4864, 896, true},
    {dtype::bf16, 128, 4864, 896, true},
    {dtype::f32, 1, 1536, 576, true},
    {dtype::f32, 128, 1536, 576, true},
};

struct attention_case {
  std::int64_t heads, kv_heads, head_dim;
  std::int64_t before; // tokens in the cache
  std::int64_t rows;   // new tokens of each sequence
  std::int64_t sequences = 1;
  std::int64_t window = 0;
  bool timed = false;
};
inline std::string name_of(const attention_case& c) {
  return std::to_string(c.heads) + "/" + std::to_string(c.kv_heads) + "x" + std::to_string(c.head_dim) + "/" +
         std::to_string(c.before) + "+" + std::to_string(c.rows) + "x" + std::to_string(c.sequences) +
         (c.window > 0 ? "/window " + std::to_string(c.window) : "");
}

inline constexpr attention_case attention_cases[] = {
    {1, 1, 16, 0, 1},
    {4, 2, 16, 0, 40},
    {9, 3, 64, 130, 1},
    {9, 3, 64, 100, 70, 2},
    {3, 1, 20, 17, 9},
    {14, 2, 64, 250, 3, 3},
    {8, 8, 128, 31, 5},
    {16, 1, 40, 5, 6},
    {2, 1, 256, 140, 2},
    {4, 2, 32, 90, 60, 1, 17},
    {4, 2, 16, 300, 1, 2, 129},
    // SmolLM2-135M and a model of 128 dims
    {9, 3, 64, 500, 1, 1, 0, true},
    {9, 3, 64, 300, 1, 16, 0, true},
    {9, 3, 64, 0, 512, 1, 0, true},
    {16, 8, 128, 1000, 1, 1, 0, true},
};

} // namespace omni::test
