#pragma once

#include "kernels/runtime/media.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace omni::test {

// Files made by the libraries that read them, in memory.

/// `format` as libsndfile names it; samples interleaved.
std::string sound_file(const std::vector<float>& samples, int rate, int channels, int format);
/// [height, width, 3], or 4 with `alpha`.
std::string png_file(const std::vector<std::uint8_t>& pixels, std::uint32_t height, std::uint32_t width,
                     bool alpha = false);
/// Without loss but for rounding when neighbours are alike. `orientation` 1..8: with an EXIF block that says so.
std::string jpeg_file(const std::vector<std::uint8_t>& rgb, int height, int width, int orientation = 0);
std::string webp_file(const std::vector<std::uint8_t>& rgba, int height, int width);
/// An AVI file of JPEG pictures, with `rate` frames per second.
std::string avi_file(const std::vector<std::string>& jpegs, std::uint32_t height, std::uint32_t width,
                     std::uint32_t rate);

/// [height, width, 3], all alike.
std::vector<std::uint8_t> plain_picture(std::int64_t height, std::int64_t width, std::uint8_t grey);

} // namespace omni::test
