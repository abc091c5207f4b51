#include "test/app/support/media_files.hpp"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <memory>
#include <png.h>
#include <sndfile.h>
#include <stdexcept>
#include <turbojpeg.h>
#include <webp/encode.h>

namespace omni::test {
namespace {

struct written_file {
  std::string bytes;
  sf_count_t at = 0;
  static written_file& of(void* self) { return *static_cast<written_file*>(self); }
  static sf_count_t length(void* self) { return sf_count_t(of(self).bytes.size()); }
  static sf_count_t tell(void* self) { return of(self).at; }
  static sf_count_t seek(sf_count_t offset, int whence, void* self) {
    const sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? of(self).at : length(self);
    return of(self).at = base + offset;
  }
  static sf_count_t read(void* into, sf_count_t count, void* self) {
    count = std::min(count, length(self) - of(self).at);
    std::memcpy(into, of(self).bytes.data() + of(self).at, std::size_t(count));
    of(self).at += count;
    return count;
  }
  static sf_count_t write(const void* from, sf_count_t count, void* self) {
    auto& file = of(self);
    file.bytes.resize(std::max(file.bytes.size(), std::size_t(file.at + count)));
    std::memcpy(file.bytes.data() + file.at, from, std::size_t(count));
    file.at += count;
    return count;
  }
};

std::string little_endian(std::uint32_t value, int bytes = 4) {
  std::string out;
  for (int i = 0; i < bytes; ++i) out.push_back(char(value >> unsigned(8 * i) & 255U));
  return out;
}

std::string chunk(const std::string& name, const std::string& bytes) {
  return name + little_endian(std::uint32_t(bytes.size())) + bytes +
         (bytes.size() % 2 == 1 ? std::string(1, '\0') : "");
}

std::string list(const std::string& name, const std::string& chunks) { return chunk("LIST", name + chunks); }

} // namespace

std::string sound_file(const std::vector<float>& samples, int rate, int channels, int format) {
  written_file file;
  SF_VIRTUAL_IO calls{written_file::length, written_file::seek, written_file::read, written_file::write,
                      written_file::tell};
  SF_INFO info{};
  info.samplerate = rate;
  info.channels = channels;
  info.format = format;
  SNDFILE* open = sf_open_virtual(&calls, SFM_WRITE, &info, &file);
  if (open == nullptr) throw std::runtime_error(sf_strerror(nullptr));
  sf_writef_float(open, samples.data(), sf_count_t(samples.size()) / channels);
  sf_close(open);
  return file.bytes;
}

std::string png_file(const std::vector<std::uint8_t>& pixels, std::uint32_t height, std::uint32_t width, bool alpha) {
  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.height = height;
  image.width = width;
  image.format = alpha ? PNG_FORMAT_RGBA : PNG_FORMAT_RGB;
  png_alloc_size_t bytes = 0;
  png_image_write_to_memory(&image, nullptr, &bytes, 0, pixels.data(), 0, nullptr);
  std::string out(bytes, '\0');
  if (png_image_write_to_memory(&image, out.data(), &bytes, 0, pixels.data(), 0, nullptr) == 0)
    throw std::runtime_error(image.message);
  out.resize(bytes);
  return out;
}

std::string jpeg_file(const std::vector<std::uint8_t>& rgb, int height, int width, int orientation) {
  tjhandle encoder = tjInitCompress();
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  const int failed =
      tjCompress2(encoder, rgb.data(), width, 0, height, TJPF_RGB, &bytes, &size, TJSAMP_444, 100, TJFLAG_ACCURATEDCT);
  if (failed != 0) throw std::runtime_error(tjGetErrorStr2(encoder));
  std::string out(reinterpret_cast<const char*>(bytes), size);
  tjFree(bytes);
  tjDestroy(encoder);
  if (orientation == 0) return out;
  const std::string entry =
      little_endian(0x0112, 2) + little_endian(3, 2) + little_endian(1) + little_endian(std::uint32_t(orientation));
  const std::string exif =
      std::string("Exif\0\0II*\0", 10) + little_endian(8) + little_endian(1, 2) + entry + little_endian(0);
  const auto length = std::uint32_t(exif.size() + 2);
  const std::string head = {'\xFF', '\xE1', char(length >> 8U), char(length & 255U)};
  return out.substr(0, 2) + head + exif + out.substr(2);
}

std::string webp_file(const std::vector<std::uint8_t>& rgba, int height, int width) {
  std::uint8_t* bytes = nullptr;
  const std::size_t size = WebPEncodeLosslessRGBA(rgba.data(), width, height, width * 4, &bytes);
  std::string out(reinterpret_cast<const char*>(bytes), size);
  WebPFree(bytes);
  return out;
}

std::string avi_file(const std::vector<std::string>& jpegs, std::uint32_t height, std::uint32_t width,
                     std::uint32_t rate) {
  const auto n = [](std::uint32_t value) { return little_endian(value); };
  const auto count = std::uint32_t(jpegs.size());
  const std::string main_header = n(1'000'000 / rate) + n(0) + n(0) + n(0x10) + n(count) + n(0) + n(1) + n(0) +
                                  n(width) + n(height) + std::string(16, '\0');
  const std::string stream_header =
      "vidsMJPG" + n(0) + n(0) + n(0) + n(1) + n(rate) + n(0) + n(count) + n(0) + n(0) + n(0) + std::string(8, '\0');
  const std::string bitmap = n(40) + n(width) + n(height) + little_endian(1, 2) + little_endian(24, 2) + "MJPG" +
                             n(width * height * 3) + std::string(16, '\0');
  std::string movie, index;
  for (const std::string& jpeg : jpegs) {
    index += "00dc" + n(0x10) + n(std::uint32_t(movie.size()) + 4) + n(std::uint32_t(jpeg.size()));
    movie += chunk("00dc", jpeg);
  }
  const std::string header =
      list("hdrl", chunk("avih", main_header) + list("strl", chunk("strh", stream_header) + chunk("strf", bitmap)));
  return chunk("RIFF", "AVI " + header + list("movi", movie) + chunk("idx1", index));
}

std::vector<std::uint8_t> plain_picture(std::int64_t height, std::int64_t width, std::uint8_t grey) {
  return std::vector<std::uint8_t>(std::size_t(height * width * 3), grey);
}

} // namespace omni::test
