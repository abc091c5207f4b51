#include "app/media/picture.hpp"

#include "app/media/picture_formats.hpp"

namespace omni::media {

media_input picture_of(std::int64_t height, std::int64_t width) {
  media_input made;
  made.what = media_input::kind::image;
  made.height = height;
  made.width = width;
  return made;
}

std::vector<std::uint8_t> on_white(const std::vector<std::uint8_t>& rgba) {
  std::vector<std::uint8_t> rgb(rgba.size() / 4 * 3);
  for (std::size_t i = 0, j = 0; i + 3 < rgba.size(); i += 4)
    for (std::size_t c = 0; c < 3; ++c) {
      const unsigned alpha = rgba[i + 3];
      rgb[j++] = static_cast<std::uint8_t>((rgba[i + c] * alpha + 255U * (255U - alpha) + 127U) / 255U);
    }
  return rgb;
}

outcome<media_input> decode_picture(std::string_view file, const limits& bounds, std::size_t most_bytes) {
  const size_check check = [&](std::int64_t height, std::int64_t width) -> std::string {
    const std::string size = std::to_string(width) + " by " + std::to_string(height) + " pixels";
    if (height < 1 || width < 1 || height > bounds.picture_side || width > bounds.picture_side ||
        height * width > bounds.picture_pixels)
      return "has " + size + ", expected at most " + std::to_string(bounds.picture_pixels) + " in all; make it smaller";
    if (std::size_t(height * width) * 3 > most_bytes)
      return "has " + size + ": with it the media of this request take more than " + mebibytes(bounds.decoded_bytes) +
             " decoded; send fewer or smaller ones";
    return {};
  };
  if (file.starts_with("\xFF\xD8\xFF")) return decode_jpeg(file, check);
  if (file.starts_with("\x89PNG\r\n\x1A\n")) return decode_png(file, check);
  if (file.size() > 12 && file.starts_with("RIFF") && file.substr(8, 4) == "WEBP") return decode_webp(file, check);
  return wrong("is not a picture that can be read: its first bytes are those of no JPEG, PNG or WebP file; send one of "
               "these");
}

} // namespace omni::media
