#include "app/openai/sound.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

namespace omni::openai {

static_assert(std::endian::native == std::endian::little, "samples and WAV fields are written as they lie in memory");

namespace {

constexpr std::uint32_t unknown_length = std::numeric_limits<std::uint32_t>::max();

template <class T>
void put(std::string& out, T value) {
  char bytes[sizeof value];
  std::memcpy(bytes, &value, sizeof value);
  out.append(bytes, sizeof value);
}

/// RIFF/WAVE with a 16 byte fmt chunk, format 1 (PCM).
std::string header(const sound_shape& shape, std::uint32_t riff_bytes, std::uint32_t data_bytes) {
  const auto channels = std::uint16_t(shape.channels);
  const auto rate = std::uint32_t(shape.sample_rate);
  std::string out = "RIFF";
  put(out, riff_bytes);
  out += "WAVEfmt ";
  put(out, std::uint32_t{16});
  put(out, std::uint16_t{1});
  put(out, channels);
  put(out, rate);
  put(out, rate * channels * 2);
  put(out, std::uint16_t(channels * 2));
  put(out, std::uint16_t{16});
  out += "data";
  put(out, data_bytes);
  return out;
}

} // namespace

sound_shape shape_of(const payload& samples) {
  return {.sample_rate = samples.sample_rate, .channels = std::int32_t(samples.width)};
}

std::string pcm16(const payload& samples) {
  const auto count = std::size_t(samples.rows * samples.width);
  std::string out(count * 2, '\0');
  const float* from = samples.f32();
  for (std::size_t i = 0; i < count; ++i) {
    const auto value = std::int16_t(std::lrintf(std::clamp(from[i], -1.0F, 1.0F) * 32767.0F));
    std::memcpy(out.data() + 2 * i, &value, sizeof value);
  }
  return out;
}

std::string wav_header(const sound_shape& shape, std::size_t pcm_bytes) {
  const auto size = std::uint32_t(std::min<std::size_t>(pcm_bytes, unknown_length - 36));
  return header(shape, size + 36, size);
}

std::string wav_stream_header(const sound_shape& shape) { return header(shape, unknown_length, unknown_length); }

std::string sound_track::bytes_of(const payload& samples) {
  const bool first = !std::exchange(begun_, true);
  std::string out = first && format_ == sound_format::wav ? wav_stream_header(shape_of(samples)) : std::string();
  return out + pcm16(samples);
}

} // namespace omni::openai
