#pragma once

#include "app/openai/voice_fields.hpp"
#include "kernels/runtime/payload.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace omni::openai {

/// What a WAV header says, besides the number of samples.
struct sound_shape {
  std::int32_t sample_rate = 0; // Hz
  std::int32_t channels = 1;
};

/// Rate and channels of a payload of samples.
sound_shape shape_of(const payload& samples);

/// Samples as 16 bit little-endian PCM, clamped to full scale.
std::string pcm16(const payload& samples);

/// A WAV header for `pcm_bytes` of 16 bit PCM.
std::string wav_header(const sound_shape& shape, std::size_t pcm_bytes);
/// A WAV header of a stream whose length nobody knows yet.
std::string wav_stream_header(const sound_shape& shape);

/// The bytes of a sound that is sent piece by piece: a WAV header before the first samples if the format has one.
class sound_track {
public:
  explicit sound_track(sound_format format) : format_(format) {}
  std::string bytes_of(const payload& samples);
  [[nodiscard]] bool begun() const { return begun_; }

private:
  sound_format format_;
  bool begun_ = false;
};

} // namespace omni::openai
