#include "kernels/weights/convert.hpp"

#include "kernels/core/float16.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <gmock/gmock.h>
#include <random>
#include <vector>

namespace omni {
namespace {

using ::testing::ElementsAre;

/// Values at an odd address, as a file may have them.
struct unaligned {
  explicit unaligned(const std::vector<std::byte>& values) : bytes(values.size() + 1) {
    std::copy(values.begin(), values.end(), bytes.begin() + 1);
  }
  template <class T>
  static unaligned of(std::initializer_list<T> values) {
    std::vector<std::byte> plain(values.size() * sizeof(T));
    std::memcpy(plain.data(), values.begin(), plain.size());
    return unaligned(plain);
  }
  tensor view(dtype type, shape extents) { return {bytes.data() + 1, type, extents}; }
  std::vector<std::byte> bytes;
};

std::vector<float> read(const tensor& from) {
  std::vector<float> values(static_cast<std::size_t>(from.values()));
  read_f32(from, values);
  return values;
}

TEST(convert, plain_types_are_read_at_any_address) {
  EXPECT_THAT(read(unaligned::of<float>({1.5F, -2}).view(dtype::f32, {2})), ElementsAre(1.5F, -2));
  EXPECT_THAT(read(unaligned::of<double>({0.1, -2}).view(dtype::f64, {2})), ElementsAre(0.1F, -2));
  EXPECT_THAT(read(unaligned::of<std::int64_t>({-5, 1LL << 40}).view(dtype::i64, {2})), ElementsAre(-5, 0x1p40F));
  EXPECT_THAT(read(unaligned::of<std::int32_t>({-5, 7}).view(dtype::i32, {2})), ElementsAre(-5, 7));
  EXPECT_THAT(read(unaligned::of<std::int16_t>({-5, 7}).view(dtype::i16, {2})), ElementsAre(-5, 7));
  EXPECT_THAT(read(unaligned::of<std::int8_t>({-5, 7}).view(dtype::i8, {2})), ElementsAre(-5, 7));
  EXPECT_THAT(read(unaligned::of<std::uint8_t>({200, 7}).view(dtype::u8, {2})), ElementsAre(200, 7));
  EXPECT_THAT(read(unaligned::of<std::uint8_t>({0, 1}).view(dtype::boolean, {2})), ElementsAre(0, 1));
  EXPECT_THAT(read(unaligned::of<std::uint16_t>({0x3c00, 0x0001}).view(dtype::f16, {2})), ElementsAre(1, 0x1p-24F));
  EXPECT_THAT(read(unaligned::of<std::uint16_t>({0x3f80, 0xc040}).view(dtype::bf16, {2})), ElementsAre(1, -3));
}

TEST(convert, some_rows_are_read_alone) {
  auto memory = unaligned::of<std::int8_t>({1, 2, 3, 4, 5, 6, 7, 8});
  const auto from = memory.view(dtype::i8, {2, 2, 2});
  std::vector<float> values(4);
  read_rows_f32(from, 1, 2, values);
  EXPECT_THAT(values, ElementsAre(3, 4, 5, 6));
}

TEST(convert, rows_of_blocks_begin_at_whole_blocks) {
  std::vector<std::byte> plain(3 * 2 * 34); // [3, 64] of Q8_0
  for (std::size_t block = 0; block < 6; ++block) {
    const std::uint16_t scale = f32_to_f16(static_cast<float>(block + 1));
    std::memcpy(plain.data() + block * 34, &scale, 2);
    std::fill_n(plain.begin() + static_cast<std::ptrdiff_t>(block * 34 + 2), 32, std::byte{1});
  }
  unaligned memory(plain);
  std::vector<float> values(64);
  read_rows_f32(memory.view(dtype::q8_0, {3, 64}), 1, 1, values);
  EXPECT_EQ(values.front(), 3);
  EXPECT_EQ(values[31], 3);
  EXPECT_EQ(values[32], 4);
  EXPECT_EQ(values.back(), 4);
}

/// Quantises as ggml does, Q4_1: m = min, d = (max - min) / 15; the error must be that of four bits on Gaussian
/// weights.
TEST(convert, q4_1_keeps_gaussian_weights_within_its_known_error) {
  std::mt19937 random(1);
  std::normal_distribution<float> gaussian;
  constexpr int blocks = 512;
  std::vector<float> weights(32 * blocks);
  for (auto& weight : weights) weight = gaussian(random);
  std::vector<std::byte> plain(20 * blocks);
  for (int block = 0; block < blocks; ++block) {
    const float* x = weights.data() + block * 32;
    const auto [least, greatest] = std::minmax_element(x, x + 32);
    const float d = (*greatest - *least) / 15;
    const std::uint16_t halves[2] = {f32_to_f16(d), f32_to_f16(*least)};
    std::byte* to = plain.data() + block * 20;
    std::memcpy(to, halves, 4);
    for (int i = 0; i < 16; ++i) {
      const auto q = [&](float value) { return std::min(15, static_cast<int>((value - *least) / d + 0.5F)); };
      to[4 + i] = static_cast<std::byte>(q(x[i]) | q(x[i + 16]) << 4);
    }
  }
  unaligned memory(plain);
  const auto values = read(memory.view(dtype::q4_1, {blocks, 32}));
  double error = 0;
  double size = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    error += std::pow(values[i] - weights[i], 2);
    size += std::pow(weights[i], 2);
  }
  EXPECT_NEAR(std::sqrt(error / size), 0.078, 0.004);
}

TEST(convert, permuted_rows_come_back_in_order) {
  // Two heads of 6: the file's row 2i+j of a head is row j*3+i.
  auto memory = unaligned::of<std::int16_t>({0, 3, 1, 4, 2, 5, 10, 13, 11, 14, 12, 15});
  const auto from = memory.view(dtype::i16, {12, 1});
  std::vector<std::byte> to(24);
  unpermute_rows(from, 6, to);
  EXPECT_THAT(read({to.data(), dtype::i16, {12, 1}}), ElementsAre(0, 1, 2, 3, 4, 5, 10, 11, 12, 13, 14, 15));
}

} // namespace
} // namespace omni
