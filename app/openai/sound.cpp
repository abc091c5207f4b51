#include "app/openai/sound.hpp"

#include "kernels/audio/pcm.hpp"

#include <span>
#include <utility>

namespace omni::openai {

audio::sound_format shape_of(const payload& samples) {
  return {.sample_rate = samples.sample_rate, .channels = std::int32_t(samples.width)};
}

std::string pcm16(const payload& samples) {
  return audio::to_s16le(std::span(samples.f32(), std::size_t(samples.rows * samples.width)));
}

std::string sound_track::bytes_of(const payload& samples) {
  const bool first = !std::exchange(begun_, true);
  std::string out = first && format_ == sound_format::wav ? audio::wav_stream_header(shape_of(samples)) : std::string();
  return out + pcm16(samples);
}

} // namespace omni::openai
