#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace omni::media {

/// Which frames of a video a model sees, and how fast they follow each other.
struct frame_choice {
  std::vector<std::int64_t> indices; // increasing
  double frames_per_second = 0;
};

/// Two frames per second, evenly spread from the first to the last; at least 4 and at most 768 as far as there are so
/// many, and an even number (one only of a video of one frame). Source: `smart_nframes` of qwen_omni_utils, which the
/// reference's examples read videos with. `total` and `frames_per_second` are positive.
frame_choice choose_frames(std::int64_t total, double frames_per_second);

/// Height and width of a frame.
struct frame_size {
  std::int64_t height = 0, width = 0;
  friend bool operator==(const frame_size&, const frame_size&) = default;
};

/// The size to which `count` frames are shrunk, their shape kept: at most 768 * 28 * 28 pixels each, as there, and so
/// that all of them fit `most_bytes` as RGB; nothing if they would have to be smaller than 128 * 28 * 28.
std::optional<frame_size> shrunk(frame_size from, std::int64_t count, std::size_t most_bytes);

} // namespace omni::media
