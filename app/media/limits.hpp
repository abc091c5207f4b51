#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace omni::media {

/// What the media of one request, and of all together, may take. Checked before memory is taken for it.
struct limits {
  std::size_t media_per_request = 64;
  std::size_t medium_bytes = std::size_t{128} << 20U;  // one medium as it comes: file, download or base64 text decoded
  std::size_t decoded_bytes = std::size_t{256} << 20U; // all media of one request, decoded
  std::size_t decoded_bytes_in_all = std::size_t{2} << 30U; // of all requests that are not answered yet: 429

  std::int64_t sound_seconds = 30 * 60;
  std::int32_t sound_channels = 16;
  std::int32_t lowest_sample_rate = 1'000;
  std::int32_t highest_sample_rate = 384'000;

  std::int64_t picture_pixels = 64 * 1024 * 1024;
  std::int64_t picture_side = 65'535;

  std::int64_t video_pixels = 16 * 1024 * 1024;      // of one frame, as it is coded
  std::int64_t video_frames = 100'000;               // as they are coded
  std::int64_t video_work = std::int64_t{48} << 30U; // pixels of all coded frames: about 13 minutes of 1080p30

  std::int32_t redirects = 3;
  std::chrono::seconds connect_timeout{5};
  std::chrono::seconds fetch_timeout{30}; // of one medium, redirects included
};

} // namespace omni::media
