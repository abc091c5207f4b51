#include "app/media/sound.hpp"

#include <cstdint>
#include <cstdlib>

/// Debian's libsndfile 1.2.0 loses 6 KB at each broken Vorbis header.
extern "C" const char* __lsan_default_suppressions() { return "leak:vorbis_info_init\n"; }

/// A file is refused with a sentence or gives samples that are numbers, as many as it may.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace omni::media;
  limits bounds;
  bounds.sound_seconds = 20; // a few bytes of a lossless format may stand for long silence
  const auto got =
      decode_sound({reinterpret_cast<const char*>(data), size}, bounds, std::size_t{16'000} * 20 * sizeof(float));
  if (!got) return got.error().empty() ? std::abort(), 0 : 0;
  if (got->samples.empty() || got->samples.size() > std::size_t{16'000} * 20 + 1) std::abort();
  for (const float sample : got->samples)
    if (!(sample > -100 && sample < 100)) std::abort();
  return 0;
}
