#pragma once

#include <cstdint>
#include <memory>
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

/// One of the media of a prompt, and where its first token stands there.
struct placed_media {
  std::shared_ptr<const media_input> what;
  std::int64_t begin = 0;
};

/// A prompt with as many tokens in the place of each medium as it has rows.
struct placed_prompt {
  std::vector<std::int32_t> tokens;
  std::vector<placed_media> media; // in the order of their places
};

} // namespace omni
