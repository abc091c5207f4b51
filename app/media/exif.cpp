#include "app/media/exif.hpp"

#include <cstring>
#include <optional>
#include <utility>

namespace omni::media {
namespace {

constexpr std::uint16_t orientation_tag = 0x0112;
constexpr std::uint16_t type_short = 3;
constexpr std::size_t entry_bytes = 12;

/// Numbers of a TIFF block in its own byte order; nothing beyond its end.
class tiff_block {
public:
  tiff_block(std::string_view bytes, bool big_endian) : bytes_(bytes), big_endian_(big_endian) {}
  [[nodiscard]] std::optional<std::uint32_t> number(std::size_t at, std::size_t width) const {
    if (at > bytes_.size() || width > bytes_.size() - at) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < width; ++i)
      value = value << 8U | static_cast<unsigned char>(bytes_[at + (big_endian_ ? i : width - 1 - i)]);
    return value;
  }

private:
  std::string_view bytes_;
  bool big_endian_;
};

int orientation_of_tiff(std::string_view bytes) {
  if (!bytes.starts_with("II") && !bytes.starts_with("MM")) return 1;
  const tiff_block block(bytes, bytes.starts_with("MM"));
  const auto directory = block.number(4, 4);
  const auto entries = directory ? block.number(*directory, 2) : std::nullopt;
  for (std::size_t i = 0; entries && i < *entries; ++i) {
    const std::size_t at = *directory + 2 + i * entry_bytes;
    if (block.number(at, 2) != orientation_tag) continue;
    const auto value = block.number(at + 2, 2) == type_short ? block.number(at + 8, 2) : std::nullopt;
    return value && *value >= 1 && *value <= 8 ? static_cast<int>(*value) : 1;
  }
  return 1;
}

} // namespace

int exif_orientation(std::string_view jpeg) {
  constexpr std::string_view name("Exif\0\0", 6);
  const tiff_block markers(jpeg, true); // a JPEG file's lengths are big endian
  std::size_t at = 2;
  while (const auto head = markers.number(at, 4)) {
    const std::uint32_t marker = *head >> 16U, length = *head & 0xFFFFU;
    const bool picture_follows = marker == 0xFFDA;
    if (marker >> 8U != 0xFF || picture_follows || length < 2) return 1;
    const std::string_view block = jpeg.substr(at + 4, length - 2);
    if (marker == 0xFFE1 && block.starts_with(name)) return orientation_of_tiff(block.substr(name.size()));
    at += 2 + length;
  }
  return 1;
}

void turn_upright(media_input& picture, int orientation) {
  if (orientation < 2 || orientation > 8) return;
  const bool swaps = orientation >= 5; // height and width
  const bool from_bottom = orientation == 3 || orientation == 4 || orientation == 7 || orientation == 8;
  const bool from_right = orientation == 2 || orientation == 3 || orientation == 6 || orientation == 7;
  const std::int64_t height = picture.height, width = picture.width;
  const std::int64_t new_height = swaps ? width : height, new_width = swaps ? height : width;
  std::vector<std::uint8_t> turned(picture.rgb.size());
  std::uint8_t* to = turned.data();
  for (std::int64_t y = 0; y < new_height; ++y)
    for (std::int64_t x = 0; x < new_width; ++x, to += 3) {
      const std::int64_t along_y = from_bottom ? new_height - 1 - y : y, along_x = from_right ? new_width - 1 - x : x;
      const std::int64_t row = swaps ? along_x : along_y, column = swaps ? along_y : along_x;
      std::memcpy(to, picture.rgb.data() + (row * width + column) * 3, 3);
    }
  picture.rgb = std::move(turned);
  picture.height = new_height;
  picture.width = new_width;
}

} // namespace omni::media
