#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace omni::audio {

/// Log-mel features as Whisper's feature extractor makes them: 16 kHz, windows of 400 samples (periodic Hann) every
/// 160, reflected at both ends, power spectrum, triangular filters on Slaney's mel scale up to 8 kHz, each of unit
/// area, then the logarithm cut 8 decades below the clip's largest and mapped to about -1..1.
class mel_features {
public:
  explicit mel_features(std::int64_t mels);

  static constexpr std::int64_t hop = 160;
  /// Frames of a clip of that many samples.
  static std::int64_t frames_of(std::int64_t samples);
  /// [frames, mels] of a mono clip at 16 kHz. A clip shorter than a window is filled up with silence.
  [[nodiscard]] std::vector<float> of(std::span<const float> samples) const;

  /// [mels, bins] weights of the filters.
  [[nodiscard]] const std::vector<double>& filters() const { return filters_; }
  static constexpr std::int64_t window = 400;
  static constexpr std::int64_t bins = window / 2 + 1;

private:
  void power_of(const double* windowed, std::vector<double>& power) const;

  std::int64_t mels_;
  std::vector<double> filters_;
  std::vector<double> hann_;      // [window]
  std::vector<double> cos_, sin_; // [window / 2 + 1, bins]
};

} // namespace omni::audio
