#pragma once

#include "app/media/limits.hpp"
#include "app/media/outcome.hpp"

#include <atomic>
#include <string_view>

namespace omni::media {

/// Decodes the pictures of a video file (MP4, MOV, WebM, Matroska, AVI, MJPEG) with FFmpeg's libraries: the frames that
/// `choose_frames` chooses, shrunk as `shrunk` says. Its sound is left out. `most_bytes`: what the frames may take.
/// Gives up when `cancelled` becomes true. Any thread.
outcome<media_input> decode_video(std::string_view file, const limits& bounds, std::size_t most_bytes,
                                  const std::atomic<bool>& cancelled);

} // namespace omni::media
