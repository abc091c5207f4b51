#include "app/media/picture_formats.hpp"

#include <webp/decode.h>

namespace omni::media {

outcome<media_input> decode_webp(std::string_view file, const size_check& check) {
  const auto* bytes = reinterpret_cast<const std::uint8_t*>(file.data());
  WebPBitstreamFeatures found{};
  if (WebPGetFeatures(bytes, file.size(), &found) != VP8_STATUS_OK)
    return wrong("is a WebP file that cannot be read; send it again whole");
  if (found.has_animation != 0) return wrong("is an animated WebP file; send one picture, or a video as video_url");
  if (auto why = check(found.height, found.width); !why.empty()) return wrong(std::move(why));
  media_input made = picture_of(found.height, found.width);
  const int channels = found.has_alpha != 0 ? 4 : 3;
  made.rgb.resize(std::size_t(found.height) * std::size_t(found.width) * std::size_t(channels));
  const auto decode = channels == 4 ? WebPDecodeRGBAInto : WebPDecodeRGBInto;
  if (decode(bytes, file.size(), made.rgb.data(), made.rgb.size(), found.width * channels) == nullptr)
    return wrong("is a WebP file that is cut short or broken; send it again whole");
  if (channels == 4) made.rgb = on_white(made.rgb);
  return made;
}

} // namespace omni::media
