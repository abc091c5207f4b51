#pragma once

#include "app/media/outcome.hpp"

#include <functional>
#include <string_view>

namespace omni::media {

/// Asked with height and width before memory is taken for the pixels; a text is why they are refused.
using size_check = std::function<std::string(std::int64_t height, std::int64_t width)>;

// One file of that format, whole, to RGB.
outcome<media_input> decode_jpeg(std::string_view file, const size_check& check);
outcome<media_input> decode_png(std::string_view file, const size_check& check);
outcome<media_input> decode_webp(std::string_view file, const size_check& check);

/// A picture without pixels yet.
media_input picture_of(std::int64_t height, std::int64_t width);

/// RGBA pixels before white: colour * alpha + white * (1 - alpha), as they are stored.
std::vector<std::uint8_t> on_white(const std::vector<std::uint8_t>& rgba);

} // namespace omni::media
