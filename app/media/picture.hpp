#pragma once

#include "app/media/limits.hpp"
#include "app/media/outcome.hpp"

#include <string_view>

namespace omni::media {

/// Decodes a JPEG, PNG or WebP file, which is told by its first bytes, to RGB: transparent parts show white, and a
/// picture that its camera held sideways (EXIF orientation) is turned upright. `most_bytes`: what the pixels may take.
/// Any thread.
outcome<media_input> decode_picture(std::string_view file, const limits& bounds, std::size_t most_bytes);

} // namespace omni::media
