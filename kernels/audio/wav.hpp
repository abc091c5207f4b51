#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace omni::audio {

struct sound_format {
  std::int32_t sample_rate = 0; // Hz
  std::int32_t channels = 1;
};

struct sound {
  sound_format format;
  std::vector<float> samples; // -1..1, channels interleaved
};

/// The 44 bytes before `data_bytes` bytes of 16-bit samples (RIFF/WAVE, PCM). At most 4 GiB of samples fit.
std::string wav_header(const sound_format& format, std::size_t data_bytes);
/// The same for a stream whose length is not known: both sizes are 0xFFFFFFFF, which players read as "until the end".
std::string wav_stream_header(const sound_format& format);
/// A whole file with 16-bit samples.
std::string write_wav(const sound_format& format, std::span<const float> samples);

/// Reads a WAV file of 16-bit integers or 32-bit floats. `where` names it in messages. Throws `load_error`.
sound read_wav(std::span<const std::byte> file, const std::string& where);

} // namespace omni::audio
