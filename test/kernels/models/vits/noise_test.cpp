#include "kernels/models/vits/noise.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace omni::vits {
namespace {

std::vector<float> values(const noise& source, std::uint64_t first, std::int64_t count) {
  std::vector<float> out(static_cast<std::size_t>(count));
  source.fill(first, count, out.data());
  return out;
}

TEST(noise, is_a_function_of_the_place) {
  const noise source(42, noise::purpose::prior, 3);
  const auto whole = values(source, 0, 101);
  for (const std::int64_t piece : {1, 2, 3, 5, 8}) {
    std::vector<float> cut;
    for (std::int64_t at = 0; at < 101; at += piece) {
      const auto more = values(source, static_cast<std::uint64_t>(at), std::min<std::int64_t>(piece, 101 - at));
      cut.insert(cut.end(), more.begin(), more.end());
    }
    EXPECT_EQ(cut, whole);
  }
}

TEST(noise, differs_by_seed_purpose_and_sentence) {
  const auto first = values({42, noise::purpose::prior, 3}, 0, 16);
  EXPECT_EQ(values({42, noise::purpose::prior, 3}, 0, 16), first);
  EXPECT_NE(values({43, noise::purpose::prior, 3}, 0, 16), first);
  EXPECT_NE(values({42, noise::purpose::durations, 3}, 0, 16), first);
  EXPECT_NE(values({42, noise::purpose::prior, 4}, 0, 16), first);
}

TEST(noise, is_normal) {
  constexpr std::int64_t count = 200000;
  double sum = 0;
  double squares = 0;
  double fourth = 0;
  double neighbours = 0;
  const auto all = values({7, noise::purpose::prior, 0}, 0, count);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const double v = all[i];
    ASSERT_TRUE(std::isfinite(v));
    sum += v;
    squares += v * v;
    fourth += v * v * v * v;
    if (i > 0) neighbours += v * double{all[i - 1]};
  }
  EXPECT_NEAR(sum / count, 0, 0.01);
  EXPECT_NEAR(squares / count, 1, 0.02);
  EXPECT_NEAR(fourth / count, 3, 0.1);
  EXPECT_NEAR(neighbours / count, 0, 0.01);
}

} // namespace
} // namespace omni::vits
