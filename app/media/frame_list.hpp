#pragma once

#include "app/media/limits.hpp"
#include "app/media/outcome.hpp"

#include <string_view>

namespace omni::media {

/// A video as vLLM takes it in a data: URL of the type video/jpeg: base64 JPEG files between commas, of one size, taken
/// as two frames per second. `most_bytes`: what the frames may take.
outcome<media_input> decode_frame_list(std::string_view text, const limits& bounds, std::size_t most_bytes);

} // namespace omni::media
