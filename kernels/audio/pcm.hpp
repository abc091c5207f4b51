#pragma once

#include <span>
#include <string>

namespace omni::audio {

/// Samples in -1..1 as signed 16-bit little-endian numbers: clipped, times 32767, rounded to nearest.
/// There is no gain: each sample is converted by itself, so a stream sounds like the whole.
std::string to_s16le(std::span<const float> samples);

} // namespace omni::audio
