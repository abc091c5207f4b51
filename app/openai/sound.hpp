#pragma once

#include "app/openai/voice_fields.hpp"
#include "kernels/audio/wav.hpp"
#include "kernels/runtime/payload.hpp"

#include <string>

namespace omni::openai {

/// Rate and channels of a payload of samples.
audio::sound_format shape_of(const payload& samples);

/// Samples as 16 bit little-endian PCM.
std::string pcm16(const payload& samples);

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
