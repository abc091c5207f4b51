#include "kernels/audio/mel.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace omni::audio {
namespace {

constexpr double sample_rate = 16000.0;
constexpr std::int64_t pad = mel_features::window / 2; // on either side
constexpr std::int64_t fewest_samples = pad + 1;       // that can be reflected

// Slaney's scale: linear up to 1 kHz, then logarithmic.
constexpr double linear_step = 200.0 / 3.0, log_from_hz = 1000.0, log_from_mel = log_from_hz / linear_step;
const double log_step = std::log(6.4) / 27.0;

double mel_of(double hz) {
  return hz < log_from_hz ? hz / linear_step : log_from_mel + std::log(hz / log_from_hz) / log_step;
}
double hz_of(double mel) {
  return mel < log_from_mel ? mel * linear_step : log_from_hz * std::exp(log_step * (mel - log_from_mel));
}

std::vector<double> make_filters(std::int64_t mels) {
  const double top = mel_of(sample_rate / 2.0);
  const auto edge = [&](std::int64_t i) { return hz_of(top * static_cast<double>(i) / static_cast<double>(mels + 1)); };
  std::vector<double> filters(static_cast<std::size_t>(mels * mel_features::bins));
  for (std::int64_t m = 0; m < mels; ++m) {
    const double low = edge(m), middle = edge(m + 1), high = edge(m + 2);
    for (std::int64_t b = 0; b < mel_features::bins; ++b) {
      const double hz = sample_rate / 2.0 * static_cast<double>(b) / static_cast<double>(mel_features::bins - 1);
      const double height = std::min((hz - low) / (middle - low), (high - hz) / (high - middle));
      filters[static_cast<std::size_t>(m * mel_features::bins + b)] = std::max(0.0, height) * 2.0 / (high - low);
    }
  }
  return filters;
}

} // namespace

mel_features::mel_features(std::int64_t mels) : mels_(mels), filters_(make_filters(mels)) {
  for (std::int64_t n = 0; n < window; ++n)
    hann_.push_back(0.5 -
                    0.5 * std::cos(2.0 * std::numbers::pi * static_cast<double>(n) / static_cast<double>(window)));
  for (std::int64_t n = 0; n <= window / 2; ++n)
    for (std::int64_t k = 0; k < bins; ++k) {
      const double angle = 2.0 * std::numbers::pi * static_cast<double>(n * k % window) / static_cast<double>(window);
      cos_.push_back(std::cos(angle));
      sin_.push_back(std::sin(angle));
    }
}

std::int64_t mel_features::frames_of(std::int64_t samples) { return std::max(samples, fewest_samples) / hop; }

/// Samples n and window - n share their cosine and the size of their sine, so each pair costs one product of each.
void mel_features::power_of(const double* x, std::vector<double>& power) const {
  std::vector<double> real(static_cast<std::size_t>(bins)), imaginary(real.size());
  for (std::int64_t n = 0; n <= window / 2; ++n) {
    const bool alone = n == 0 || n == window / 2;
    const double even = alone ? x[n] : x[n] + x[window - n], odd = alone ? 0.0 : x[n] - x[window - n];
    const double *const c = cos_.data() + n * bins, *const s = sin_.data() + n * bins;
    for (std::size_t k = 0; k < real.size(); ++k) {
      real[k] += even * c[k];
      imaginary[k] += odd * s[k];
    }
  }
  for (std::size_t k = 0; k < real.size(); ++k) power[k] = real[k] * real[k] + imaginary[k] * imaginary[k];
}

std::vector<float> mel_features::of(std::span<const float> clip) const {
  std::vector<float> samples(clip.begin(), clip.end());
  samples.resize(std::max(samples.size(), static_cast<std::size_t>(fewest_samples)));
  const auto count = static_cast<std::int64_t>(samples.size());
  const auto at = [&](std::int64_t i) {
    if (i < 0) i = -i;
    if (i >= count) i = 2 * (count - 1) - i;
    return static_cast<double>(samples[static_cast<std::size_t>(i)]);
  };
  const std::int64_t frames = count / hop;
  std::vector<double> windowed(static_cast<std::size_t>(window)), power(static_cast<std::size_t>(bins)), logs;
  logs.reserve(static_cast<std::size_t>(frames * mels_));
  for (std::int64_t f = 0; f < frames; ++f) {
    for (std::int64_t n = 0; n < window; ++n)
      windowed[static_cast<std::size_t>(n)] = at(f * hop - pad + n) * hann_[static_cast<std::size_t>(n)];
    power_of(windowed.data(), power);
    for (std::int64_t m = 0; m < mels_; ++m) {
      double energy = 0.0;
      for (std::int64_t b = 0; b < bins; ++b)
        energy += filters_[static_cast<std::size_t>(m * bins + b)] * power[static_cast<std::size_t>(b)];
      logs.push_back(std::log10(std::max(energy, 1e-10)));
    }
  }
  const double floor = logs.empty() ? 0.0 : *std::max_element(logs.begin(), logs.end()) - 8.0;
  std::vector<float> features(logs.size());
  for (std::size_t i = 0; i < logs.size(); ++i)
    features[i] = static_cast<float>((std::max(logs[i], floor) + 4.0) / 4.0);
  return features;
}

} // namespace omni::audio
