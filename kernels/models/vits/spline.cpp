#include "kernels/models/vits/spline.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace omni::vits {
namespace {

constexpr float least_share = 1e-3F; // of a bin
constexpr float least_slope = 1e-3F;

using knots = std::array<float, most_spline_bins + 1>;

/// Knots over [-tail, tail] whose distances are softmax shares, none below the least one. Ends are exact.
knots knots_of(std::span<const float> values, float tail) {
  const auto bins = values.size();
  std::array<float, most_spline_bins> share;
  const float top = *std::max_element(values.begin(), values.end());
  float sum = 0;
  for (std::size_t i = 0; i < bins; ++i) sum += share[i] = std::exp(values[i] - top);
  knots k{};
  float total = 0;
  for (std::size_t i = 0; i < bins; ++i) {
    k[i] = 2 * tail * total - tail;
    total += least_share + (1 - least_share * static_cast<float>(bins)) * share[i] / sum;
  }
  k[0] = -tail;
  k[bins] = tail;
  return k;
}

float softplus(float x) { return x > 20 ? x : std::log1p(std::exp(x)); }

} // namespace

float inverse_spline(float y, std::span<const float> widths, std::span<const float> heights,
                     std::span<const float> slopes, float tail) {
  const auto bins = widths.size();
  OMNI_CHECK(bins > 0 && bins <= most_spline_bins && heights.size() == bins && slopes.size() + 1 == bins,
             "a spline has as many heights as widths and one slope less");
  if (!(y >= -tail && y <= tail)) return y;
  const auto x = knots_of(widths, tail);
  const auto h = knots_of(heights, tail);
  std::size_t bin = 0;
  while (bin + 1 < bins && y >= h[bin + 1]) ++bin;
  const auto slope_at = [&](std::size_t knot) {
    return knot == 0 || knot == bins ? 1.0F : least_slope + softplus(slopes[knot - 1]);
  };
  const float width = x[bin + 1] - x[bin];
  const float height = h[bin + 1] - h[bin];
  const float delta = height / width;
  const float left = slope_at(bin);
  const float excess = left + slope_at(bin + 1) - 2 * delta;
  const float t = y - h[bin];
  const float a = t * excess + height * (delta - left);
  const float b = height * left - t * excess;
  const float c = -delta * t;
  const float root = 2 * c / (-b - std::sqrt(std::max(0.0F, b * b - 4 * a * c)));
  return root * width + x[bin];
}

} // namespace omni::vits
