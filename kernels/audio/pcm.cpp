#include "kernels/audio/pcm.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

namespace omni::audio {

std::string to_s16le(std::span<const float> samples) {
  std::string bytes(2 * samples.size(), '\0');
  char* to = bytes.data();
  for (const float sample : samples) {
    // A sample that is no number is silence.
    const float clipped = sample >= -1.0F ? std::min(sample, 1.0F) : (sample < -1.0F ? -1.0F : 0.0F);
    const auto value = static_cast<std::uint16_t>(std::lrint(clipped * 32767.0F));
    *to++ = static_cast<char>(value & 0xFF);
    *to++ = static_cast<char>(value >> 8);
  }
  return bytes;
}

} // namespace omni::audio
