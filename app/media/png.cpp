#include "app/media/picture_formats.hpp"

#include <png.h>

namespace omni::media {
namespace {

/// Frees what libpng holds for an image that was begun.
struct png_holder {
  png_image image{};
  png_holder() { image.version = PNG_IMAGE_VERSION; }
  ~png_holder() { png_image_free(&image); }
  png_holder(const png_holder&) = delete;
  png_holder& operator=(const png_holder&) = delete;
};

} // namespace

outcome<media_input> decode_png(std::string_view file, const size_check& check) {
  png_holder holder;
  png_image& image = holder.image;
  const auto broken = [&] {
    return wrong("is a PNG file that cannot be read (" + std::string(image.message) + "); send it again whole");
  };
  if (png_image_begin_read_from_memory(&image, file.data(), file.size()) == 0) return broken();
  if (auto why = check(image.height, image.width); !why.empty()) return wrong(std::move(why));
  const bool transparent = (image.format & PNG_FORMAT_FLAG_ALPHA) != 0;
  image.format = transparent ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
  image.flags |= PNG_IMAGE_FLAG_16BIT_sRGB; // else values of 16 bits count as linear light
  media_input made = picture_of(image.height, image.width);
  made.rgb.resize(PNG_IMAGE_SIZE(image));
  if (png_image_finish_read(&image, nullptr, made.rgb.data(), 0, nullptr) == 0) return broken();
  if (transparent) made.rgb = on_white(made.rgb);
  return made;
}

} // namespace omni::media
