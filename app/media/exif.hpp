#pragma once

#include "kernels/runtime/media.hpp"

#include <string_view>

namespace omni::media {

/// How a JPEG file wants to be turned: the EXIF orientation of its first picture, 1 (upright) to 8; 1 if it says
/// nothing that can be read.
int exif_orientation(std::string_view jpeg);

/// Turns and mirrors a picture so that `orientation` 1 describes it.
void turn_upright(media_input& picture, int orientation);

} // namespace omni::media
