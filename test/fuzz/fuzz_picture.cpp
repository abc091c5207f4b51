#include "app/media/picture.hpp"

#include <cstdint>
#include <cstdlib>

/// A file is refused with a sentence or gives all pixels of its size.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace omni::media;
  limits bounds;
  bounds.picture_pixels = 1 << 20U;
  const auto got = decode_picture({reinterpret_cast<const char*>(data), size}, bounds, 3U << 20U);
  if (!got) return got.error().empty() ? std::abort(), 0 : 0;
  if (got->height < 1 || got->width < 1 || got->rgb.size() != std::size_t(got->height * got->width * 3)) std::abort();
  return 0;
}
