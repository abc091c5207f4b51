#include "test/support/random_weights.hpp"

#include "kernels/core/float16.hpp"
#include "kernels/weights/convert.hpp"
#include "test/support/random_floats.hpp"

#include <cstring>
#include <initializer_list>
#include <random>

namespace omni::test {
namespace {

/// Bytes of the F16 fields of a block.
std::initializer_list<std::size_t> half_fields(dtype type) {
  static constexpr std::initializer_list<std::size_t> one = {0}, two = {0, 2}, last = {208};
  if (type == dtype::q6_k) return last;
  const bool has_min = type == dtype::q4_1 || type == dtype::q5_1 || type == dtype::q4_k || type == dtype::q5_k;
  return has_min ? two : one;
}

} // namespace

random_matrix::random_matrix(dtype type, std::int64_t rows, std::int64_t columns, std::uint32_t seed)
    : type_(type), extents_({rows, columns}), bytes_(static_cast<std::size_t>(rows * row_bytes(type, columns))) {
  const auto values = random_floats(rows * columns, seed);
  if (!is_block_quantised(type)) {
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::uint16_t bits = type == dtype::f16 ? f32_to_f16(values[i]) : f32_to_bf16(values[i]);
      if (type == dtype::f32)
        std::memcpy(bytes_.data() + i * 4, &values[i], 4);
      else
        std::memcpy(bytes_.data() + i * 2, &bits, 2);
    }
    return;
  }
  std::mt19937 generator(seed);
  for (auto& b : bytes_) b = static_cast<std::byte>(generator());
  const auto block = static_cast<std::size_t>(info(type).block_bytes);
  for (std::size_t at = 0; at < bytes_.size(); at += block)
    for (const auto field : half_fields(type)) {
      const auto bits = f32_to_f16(values[at / block] * 0.01F);
      std::memcpy(bytes_.data() + at + field, &bits, 2);
    }
}

std::vector<float> random_matrix::values() const {
  std::vector<float> all(static_cast<std::size_t>(extents_.values()));
  read_f32(view(), all);
  return all;
}

} // namespace omni::test
