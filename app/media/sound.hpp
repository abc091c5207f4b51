#pragma once

#include "app/media/limits.hpp"
#include "app/media/outcome.hpp"

#include <string_view>

namespace omni::media {

/// Decodes a sound file (WAV, FLAC, Ogg with Vorbis or Opus, MP3, AIFF, ... : what libsndfile reads), mixes its
/// channels to one and resamples to the 16 kHz that models hear. The length is the one that the reference gets: samples
/// * 16000 / rate, rounded up. `most_bytes`: what the samples may take. Any thread.
outcome<media_input> decode_sound(std::string_view file, const limits& bounds, std::size_t most_bytes);

} // namespace omni::media
