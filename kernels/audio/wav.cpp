#include "kernels/audio/wav.hpp"

#include "kernels/audio/pcm.hpp"
#include "kernels/core/error.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <optional>
#include <string_view>

namespace omni::audio {
namespace {

constexpr std::uint32_t unknown_size = std::numeric_limits<std::uint32_t>::max();
constexpr std::uint32_t header_rest = 36; // bytes of the header that the size of the file counts
constexpr std::uint16_t format_pcm = 1;
constexpr std::uint16_t format_float = 3;
constexpr std::uint16_t format_extensible = 0xFFFE;

void put(std::string& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xFF);
}

std::string header(const sound_format& format, std::uint32_t file_size, std::uint32_t data_size) {
  const auto rate = static_cast<std::uint32_t>(format.sample_rate);
  const auto frame = static_cast<std::uint32_t>(2 * format.channels);
  std::string out = "RIFF";
  put(out, file_size, 4);
  out += "WAVEfmt ";
  put(out, 16, 4);
  put(out, format_pcm, 2);
  put(out, static_cast<std::uint32_t>(format.channels), 2);
  put(out, rate, 4);
  put(out, rate * frame, 4);
  put(out, frame, 2);
  put(out, 16, 2);
  out += "data";
  put(out, data_size, 4);
  return out;
}

[[noreturn]] void reject(const std::string& where, const std::string& problem) {
  throw load_error(where + ": " + problem + ".");
}

/// Little-endian numbers from bytes that are known to be there.
class byte_view {
public:
  explicit byte_view(std::span<const std::byte> bytes) : bytes_(bytes) {}
  [[nodiscard]] std::size_t size() const { return bytes_.size(); }
  [[nodiscard]] std::uint32_t number(std::size_t at, int count) const {
    std::uint32_t value = 0;
    for (int i = 0; i < count; ++i)
      value |= static_cast<std::uint32_t>(bytes_[at + static_cast<std::size_t>(i)]) << (8 * i);
    return value;
  }
  [[nodiscard]] bool is(std::size_t at, std::string_view tag) const {
    return std::equal(tag.begin(), tag.end(), bytes_.begin() + static_cast<std::ptrdiff_t>(at),
                      [](char c, std::byte b) { return static_cast<std::byte>(c) == b; });
  }
  [[nodiscard]] byte_view part(std::size_t at, std::size_t count) const { return byte_view(bytes_.subspan(at, count)); }

private:
  std::span<const std::byte> bytes_;
};

struct sample_layout {
  sound_format format;
  bool floats = false;
};

sample_layout read_format(const byte_view& chunk, const std::string& where) {
  if (chunk.size() < 16) reject(where, "the format of the samples is cut off");
  auto kind = chunk.number(0, 2);
  const auto bits = chunk.number(14, 2);
  if (kind == format_extensible && chunk.size() >= 26) kind = chunk.number(24, 2);
  const bool floats = kind == format_float && bits == 32;
  if (!floats && !(kind == format_pcm && bits == 16))
    reject(where, "the samples have format " + std::to_string(kind) + " with " + std::to_string(bits) +
                      " bits, expected 16-bit integers or 32-bit floats");
  const auto channels = chunk.number(2, 2);
  const auto rate = chunk.number(4, 4);
  constexpr std::uint32_t most_channels = 64;
  constexpr std::uint32_t highest_rate = 768000;
  if (channels == 0 || channels > most_channels || rate == 0 || rate > highest_rate)
    reject(where, std::to_string(channels) + " channels at " + std::to_string(rate) + " Hz are out of range");
  return {{static_cast<std::int32_t>(rate), static_cast<std::int32_t>(channels)}, floats};
}

sound read_samples(const sample_layout& layout, const byte_view& data) {
  sound read{layout.format, {}};
  const std::size_t width = layout.floats ? 4 : 2;
  const auto channels = static_cast<std::size_t>(layout.format.channels);
  const auto count = data.size() / width / channels * channels;
  read.samples.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (layout.floats)
      read.samples.push_back(std::bit_cast<float>(data.number(4 * i, 4)));
    else
      read.samples.push_back(static_cast<float>(static_cast<std::int16_t>(data.number(2 * i, 2))) / 32767.0F);
  }
  return read;
}

} // namespace

std::string wav_header(const sound_format& format, std::size_t data_bytes) {
  const auto size = static_cast<std::uint32_t>(std::min<std::size_t>(data_bytes, unknown_size - header_rest));
  return header(format, size + header_rest, size);
}

std::string wav_stream_header(const sound_format& format) { return header(format, unknown_size, unknown_size); }

std::string write_wav(const sound_format& format, std::span<const float> samples) {
  return wav_header(format, 2 * samples.size()) + to_s16le(samples);
}

sound read_wav(std::span<const std::byte> file, const std::string& where) {
  const byte_view all(file);
  if (all.size() < 12 || !all.is(0, "RIFF") || !all.is(8, "WAVE")) reject(where, "this is no WAV file");
  std::optional<sample_layout> layout;
  for (std::size_t at = 12; all.size() - at >= 8;) {
    const auto left = all.size() - at - 8;
    const std::size_t size = all.number(at + 4, 4);
    const auto chunk = all.part(at + 8, std::min(size, left)); // the last one of a stream has no true size
    if (all.is(at, "fmt ")) layout = read_format(chunk, where);
    if (all.is(at, "data")) {
      if (!layout) reject(where, "the samples come before their format");
      return read_samples(*layout, chunk);
    }
    if (size >= left) break;
    at += 8 + size + size % 2;
    if (at > all.size()) break;
  }
  reject(where, "the file holds no samples");
}

} // namespace omni::audio
