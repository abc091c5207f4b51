#include "app/media/exif.hpp"
#include "app/media/picture_formats.hpp"

#include <cstring>
#include <memory>
#include <turbojpeg.h>

namespace omni::media {
namespace {

struct decoder_deleter {
  void operator()(void* decoder) const { tjDestroy(decoder); }
};

/// Ink as Adobe's programs store it, which is how such files come: 255 is none.
std::vector<std::uint8_t> rgb_of_inks(const std::vector<std::uint8_t>& cmyk) {
  std::vector<std::uint8_t> rgb(cmyk.size() / 4 * 3);
  for (std::size_t i = 0, j = 0; i + 3 < cmyk.size(); i += 4)
    for (std::size_t c = 0; c < 3; ++c) rgb[j++] = static_cast<std::uint8_t>(cmyk[i + c] * cmyk[i + 3] / 255);
  return rgb;
}

} // namespace

outcome<media_input> decode_jpeg(std::string_view file, const size_check& check) {
  const std::unique_ptr<void, decoder_deleter> decoder(tjInitDecompress());
  if (!decoder) throw std::bad_alloc();
  const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
  const auto broken = [&] {
    return wrong("is a JPEG file that cannot be read (" + std::string(tjGetErrorStr2(decoder.get())) +
                 "); send it again whole");
  };
  int width = 0, height = 0, sampling = 0, colours = 0;
  if (tjDecompressHeader3(decoder.get(), bytes, file.size(), &width, &height, &sampling, &colours) != 0 &&
      tjGetErrorCode(decoder.get()) != TJERR_WARNING)
    return broken();
  if (auto why = check(height, width); !why.empty()) return wrong(std::move(why));
  media_input made = picture_of(height, width);
  const bool inks = colours == TJCS_CMYK || colours == TJCS_YCCK;
  const int format = inks ? TJPF_CMYK : TJPF_RGB;
  made.rgb.resize(std::size_t(height) * std::size_t(width) * (inks ? 4 : 3));
  const int flags = TJFLAG_ACCURATEDCT | TJFLAG_LIMITSCANS; // a small file may hold very many scans
  if (tjDecompress2(decoder.get(), bytes, file.size(), made.rgb.data(), width, 0, height, format, flags) != 0) {
    const bool cut_short = std::strstr(tjGetErrorStr2(decoder.get()), "Premature end") != nullptr;
    if (cut_short || tjGetErrorCode(decoder.get()) != TJERR_WARNING) return broken();
  }
  if (inks) made.rgb = rgb_of_inks(made.rgb);
  turn_upright(made, exif_orientation(file));
  return made;
}

} // namespace omni::media
