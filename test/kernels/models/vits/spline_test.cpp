#include "kernels/models/vits/spline.hpp"

#include "test/support/random_floats.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <vector>

namespace omni::vits {
namespace {

using numbers = std::vector<double>;

numbers knots(std::span<const float> raw, double tail) {
  numbers k{-tail};
  double total = 0;
  for (const float value : raw) total += std::exp(double{value});
  for (const float value : raw)
    k.push_back(k.back() + 2 * tail * (1e-3 + (1 - 1e-3 * double(raw.size())) * std::exp(double{value}) / total));
  return k;
}

/// The spline itself, as it is defined.
double forward(double x, std::span<const float> widths, std::span<const float> heights, std::span<const float> slopes,
               double tail) {
  if (x < -tail || x > tail) return x;
  const auto xs = knots(widths, tail);
  const auto ys = knots(heights, tail);
  numbers d{1.0};
  for (const float raw : slopes) d.push_back(1e-3 + std::log1p(std::exp(double{raw})));
  d.push_back(1.0);
  std::size_t bin = 0;
  while (bin + 2 < xs.size() && x >= xs[bin + 1]) ++bin;
  const double w = xs[bin + 1] - xs[bin];
  const double h = ys[bin + 1] - ys[bin];
  const double s = h / w;
  const double u = (x - xs[bin]) / w;
  return ys[bin] + h * (s * u * u + d[bin] * u * (1 - u)) / (s + (d[bin] + d[bin + 1] - 2 * s) * u * (1 - u));
}

TEST(inverse_spline, undoes_the_spline) {
  for (std::uint32_t seed = 0; seed < 50; ++seed) {
    auto widths = test::random_floats(10, seed);
    auto heights = test::random_floats(10, seed + 1000);
    auto slopes = test::random_floats(9, seed + 2000);
    for (auto* values : {&widths, &heights, &slopes})
      for (auto& value : *values) value *= 2;
    for (double x = -6; x <= 6; x += 0.37) {
      const auto y = static_cast<float>(forward(x, widths, heights, slopes, 5.0));
      EXPECT_NEAR(double{inverse_spline(y, widths, heights, slopes, 5.0F)}, x, 2e-3) << seed << " " << x;
    }
  }
}

TEST(inverse_spline, is_the_identity_outside_and_at_the_ends) {
  const auto widths = test::random_floats(10, 1);
  const auto heights = test::random_floats(10, 2);
  const auto slopes = test::random_floats(9, 3);
  for (const float y : {-100.0F, -5.01F, 5.01F, 1e30F}) EXPECT_EQ(inverse_spline(y, widths, heights, slopes, 5.0F), y);
  for (const float y : {-5.0F, 5.0F}) EXPECT_NEAR(inverse_spline(y, widths, heights, slopes, 5.0F), y, 1e-5);
}

} // namespace
} // namespace omni::vits
