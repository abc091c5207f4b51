#include "app/media/sound.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <memory>
#include <numeric>
#include <sndfile.h>
#include <soxr.h>
#include <stdexcept>

namespace omni::media {
namespace {

constexpr double heard_rate = 16'000;
constexpr std::int64_t frames_at_once = 4096;
constexpr float loudest = 8; // full scale is 1; a file far above it does not hold sound

/// A file in memory, as libsndfile reads one.
struct memory_file {
  std::string_view bytes;
  sf_count_t at = 0;

  static sf_count_t length(void* self) { return sf_count_t(static_cast<memory_file*>(self)->bytes.size()); }
  static sf_count_t tell(void* self) { return static_cast<memory_file*>(self)->at; }
  static sf_count_t seek(sf_count_t offset, int whence, void* self) {
    auto& file = *static_cast<memory_file*>(self);
    const auto size = sf_count_t(file.bytes.size());
    const sf_count_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? file.at : size;
    if (offset < -base || offset > size - base) return -1;
    return file.at = base + offset;
  }
  static sf_count_t read(void* into, sf_count_t count, void* self) {
    auto& file = *static_cast<memory_file*>(self);
    const sf_count_t taken = std::clamp<sf_count_t>(count, 0, sf_count_t(file.bytes.size()) - file.at);
    std::memcpy(into, file.bytes.data() + file.at, std::size_t(taken));
    file.at += taken;
    return taken;
  }
  static sf_count_t write(const void* /*from*/, sf_count_t /*count*/, void* /*self*/) { return 0; }
};

struct sound_closer {
  void operator()(SNDFILE* file) const { sf_close(file); }
};
struct resampler_deleter {
  void operator()(soxr* resampler) const { soxr_delete(resampler); }
};

/// Appends what comes out of a resampler to samples at 16 kHz.
class resampler {
public:
  explicit resampler(double rate) : step_(heard_rate / rate) {
    if (rate == heard_rate) return;
    const soxr_quality_spec_t quality = soxr_quality_spec(SOXR_HQ, 0);
    soxr_error_t problem = nullptr;
    soxr_.reset(soxr_create(rate, heard_rate, 1, &problem, nullptr, &quality, nullptr));
    if (!soxr_) throw std::bad_alloc(); // the arguments are in range
    piece_.resize(std::size_t(std::ceil(double(frames_at_once) * step_)) + 64);
  }
  void add(const float* samples, std::size_t count, std::vector<float>& into) {
    if (!soxr_) return void(into.insert(into.end(), samples, samples + count));
    pump(samples, count, into);
  }
  /// After the last one: what the filter still holds, and the length put right.
  void finish(std::int64_t frames, std::vector<float>& into) {
    if (!soxr_) return;
    pump(nullptr, 0, into);
    into.resize(std::size_t(std::ceil(double(frames) * step_)));
  }

private:
  void pump(const float* samples, std::size_t count, std::vector<float>& into) {
    std::size_t made = 0;
    do {
      std::size_t used = 0;
      if (const soxr_error_t problem =
              soxr_process(soxr_.get(), samples, count, &used, piece_.data(), piece_.size(), &made))
        throw std::runtime_error(std::string("soxr: ") + problem);
      into.insert(into.end(), piece_.begin(), piece_.begin() + std::ptrdiff_t(made));
      if (samples != nullptr) samples += used;
      count -= used;
    } while (count > 0 || made == piece_.size());
  }

  double step_;
  std::unique_ptr<soxr, resampler_deleter> soxr_;
  std::vector<float> piece_;
};

/// Why the file is refused before a sample of it is read.
std::string refusal(const SF_INFO& info, const limits& bounds) {
  if (info.channels < 1 || info.channels > bounds.sound_channels)
    return "has " + std::to_string(info.channels) + " channels, expected 1 to " +
           std::to_string(bounds.sound_channels) + "; send it with fewer";
  if (info.samplerate < bounds.lowest_sample_rate || info.samplerate > bounds.highest_sample_rate)
    return "has " + std::to_string(info.samplerate) + " samples per second, expected " +
           std::to_string(bounds.lowest_sample_rate) + " to " + std::to_string(bounds.highest_sample_rate) +
           "; resample it";
  return {};
}

} // namespace

outcome<media_input> decode_sound(std::string_view file, const limits& bounds, std::size_t most_bytes) {
  memory_file bytes{file};
  SF_VIRTUAL_IO calls{memory_file::length, memory_file::seek, memory_file::read, memory_file::write, memory_file::tell};
  SF_INFO info{};
  const std::unique_ptr<SNDFILE, sound_closer> open(sf_open_virtual(&calls, SFM_READ, &info, &bytes));
  if (!open)
    return wrong("is not a sound file that can be read (" + std::string(sf_strerror(nullptr)) +
                 "); send WAV, FLAC, Ogg or MP3");
  if (auto why = refusal(info, bounds); !why.empty()) return wrong(std::move(why));
  const auto seconds = std::min<std::int64_t>(bounds.sound_seconds, std::int64_t(most_bytes / sizeof(float) / 16'000));
  const std::int64_t most_frames = seconds * info.samplerate;
  media_input made;
  resampler to_16k(info.samplerate);
  const auto channels = std::size_t(info.channels);
  std::vector<float> interleaved(std::size_t(frames_at_once) * channels);
  std::array<float, frames_at_once> mono;
  std::int64_t frames = 0;
  for (sf_count_t got = 0; (got = sf_readf_float(open.get(), interleaved.data(), frames_at_once)) > 0;) {
    frames += got;
    if (frames > most_frames)
      return wrong("is longer than the " + std::to_string(seconds) + " seconds that this request may take; cut it");
    for (std::size_t i = 0; i < std::size_t(got); ++i) {
      const float* first = interleaved.data() + i * channels;
      mono[i] = std::accumulate(first, first + channels, 0.0F) / float(channels);
      if (!(std::abs(mono[i]) <= loudest))
        return wrong("holds samples that are no sound (not numbers, or far beyond 1)");
    }
    to_16k.add(mono.data(), std::size_t(got), made.samples);
  }
  if (frames == 0) return wrong("holds no sound: its file ends before the first sample; leave it out");
  to_16k.finish(frames, made.samples);
  return made;
}

} // namespace omni::media
