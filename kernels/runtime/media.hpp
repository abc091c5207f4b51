#pragma once

#include <cstdint>
#include <vector>

namespace omni {

/// What one part of a prompt lets hear or see, decoded.
struct media_input {
  enum class kind : std::uint8_t { audio, image, video };
  kind what = kind::audio;
  std::vector<float> samples;    // audio: mono, 16 kHz, in -1..1
  std::vector<std::uint8_t> rgb; // [frames, height, width, 3]
  std::int64_t frames = 1;
  std::int64_t height = 0;
  std::int64_t width = 0;
  double frames_per_second = 1.0; // video
};

} // namespace omni
