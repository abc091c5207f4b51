#include "kernels/layers/rope_angles.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace omni {
namespace {

double llama3_frequency(const rope_config& c, double frequency) {
  const double wavelength = 2.0 * std::numbers::pi / frequency;
  const auto context = static_cast<double>(c.original_context);
  if (wavelength < context / c.high_frequency_factor) return frequency;
  if (wavelength > context / c.low_frequency_factor) return frequency / c.factor;
  const double smooth =
      (context / wavelength - c.low_frequency_factor) / (c.high_frequency_factor - c.low_frequency_factor);
  return (1.0 - smooth) * frequency / c.factor + smooth * frequency;
}

/// The (fractional) pair that makes `turns` full turns within the original context.
double yarn_pair(const rope_config& c, double turns) {
  const auto context = static_cast<double>(c.original_context);
  return static_cast<double>(c.dims) * std::log(context / (turns * 2.0 * std::numbers::pi)) / (2.0 * std::log(c.theta));
}

double yarn_frequency(const rope_config& c, double frequency, std::int64_t pair) {
  double low = yarn_pair(c, c.beta_fast), high = yarn_pair(c, c.beta_slow);
  if (c.whole_bounds) {
    low = std::floor(low);
    high = std::ceil(high);
  }
  low = std::max(low, 0.0);
  high = std::min(high, static_cast<double>(c.dims - 1));
  if (low == high) high += 0.001;
  const double ramp = std::clamp((static_cast<double>(pair) - low) / (high - low), 0.0, 1.0);
  return frequency * (1.0 - ramp) + frequency / c.factor * ramp;
}

} // namespace

std::vector<float> rope_frequencies(const rope_config& c, std::int64_t length) {
  const auto dims = static_cast<double>(c.dims);
  double theta = c.theta;
  if (c.kind == rope_kind::dynamic && length > c.original_context) {
    const double stretch =
        c.factor * static_cast<double>(length) / static_cast<double>(c.original_context) - (c.factor - 1.0);
    theta *= std::pow(stretch, dims / (dims - 2.0));
  }
  std::vector<float> frequencies(static_cast<std::size_t>(c.dims / 2));
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    double frequency = std::pow(theta, -2.0 * static_cast<double>(i) / dims);
    if (c.kind == rope_kind::linear) frequency /= c.factor;
    if (c.kind == rope_kind::llama3) frequency = llama3_frequency(c, frequency);
    if (c.kind == rope_kind::yarn) frequency = yarn_frequency(c, frequency, static_cast<std::int64_t>(i));
    if (!c.divisors.empty()) frequency /= static_cast<double>(c.divisors[i]);
    frequencies[i] = static_cast<float>(frequency);
  }
  return frequencies;
}

float rope_amplitude(const rope_config& c) {
  if (c.kind != rope_kind::yarn) return 1.0F;
  if (c.attention_factor) return static_cast<float>(*c.attention_factor);
  return c.factor <= 1.0 ? 1.0F : static_cast<float>(0.1 * std::log(c.factor) + 1.0);
}

rope_angles::rope_angles(rope_config config)
    : config_(std::move(config)), frequencies_(rope_frequencies(config_, 0)), amplitude_(rope_amplitude(config_)) {
  for (std::int64_t j = 0; j < config_.dims / 2; ++j) {
    const bool height = j % 3 == 1 && j < 3 * config_.sections[1];
    const bool width = j % 3 == 2 && j < 3 * config_.sections[2];
    axes_.push_back(height ? &rope_position::height : width ? &rope_position::width : &rope_position::time);
  }
}

void rope_angles::fill(std::span<const rope_position> positions, const tensor& cos, const tensor& sin) const {
  const std::size_t half = frequencies_.size();
  for (std::size_t r = 0; r < positions.size(); ++r) {
    const auto position = static_cast<std::int64_t>(positions[r].time);
    const bool stretched = config_.kind == rope_kind::dynamic && position >= config_.original_context;
    const std::vector<float> own = stretched ? rope_frequencies(config_, position + 1) : std::vector<float>();
    const float* const frequencies = stretched ? own.data() : frequencies_.data();
    for (std::size_t i = 0; i < half; ++i) {
      // The angle is rounded to F32 before it is turned, as in the reference.
      const float angle = positions[r].*axes_[i] * frequencies[i];
      cos.f32()[r * half + i] = std::cos(angle) * amplitude_;
      sin.f32()[r * half + i] = std::sin(angle) * amplitude_;
    }
  }
}

} // namespace omni
