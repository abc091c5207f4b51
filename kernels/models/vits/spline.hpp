#pragma once

#include <cstdint>
#include <span>

namespace omni::vits {

/// The inverse of a monotonic rational-quadratic spline on [-tail, tail], the identity outside (Durkan et al. 2019,
/// with the constants of VITS: least width, height and slope 1e-3, slope 1 at both ends). `widths` and `heights` have
/// one value per bin, `slopes` one per inner knot, all as the network gives them, i.e. before softmax and softplus.
float inverse_spline(float y, std::span<const float> widths, std::span<const float> heights,
                     std::span<const float> slopes, float tail);

/// Bins that `inverse_spline` accepts at most.
inline constexpr std::size_t most_spline_bins = 64;

} // namespace omni::vits
