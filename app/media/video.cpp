#include "app/media/video.hpp"

#include "app/media/sampled_frames.hpp"
#include "app/media/video_file.hpp"

#include <algorithm>
#include <cstring>

namespace omni::media {
namespace {

/// Turns decoded frames into RGB of one size.
class frame_scaler {
public:
  frame_scaler(const libav& lib, frame_size to)
      : lib_(lib), to_(to), line_((to.width * 3 + padding - 1) / padding * padding + padding),
        lines_(std::size_t(line_ * to.height)) {}
  frame_scaler(const frame_scaler&) = delete;
  frame_scaler& operator=(const frame_scaler&) = delete;
  ~frame_scaler() { lib_.free_scaler(scaler_); }

  /// Appends the frame; false if its pixels are of a kind that cannot be converted.
  bool append(const AVFrame& frame, std::vector<std::uint8_t>& into) {
    scaler_ = lib_.get_scaler(scaler_, frame.width, frame.height, AVPixelFormat(frame.format), int(to_.width),
                              int(to_.height), AV_PIX_FMT_RGB24, SWS_BICUBIC, nullptr, nullptr, nullptr);
    if (scaler_ == nullptr) return false;
    std::uint8_t* const planes[] = {lines_.data(), nullptr, nullptr, nullptr};
    const int strides[] = {int(line_), 0, 0, 0};
    if (lib_.scale(scaler_, frame.data, frame.linesize, 0, frame.height, planes, strides) < 1) return false;
    for (std::int64_t y = 0; y < to_.height; ++y) {
      const auto* row = lines_.data() + y * line_;
      into.insert(into.end(), row, row + to_.width * 3);
    }
    return true;
  }

private:
  static constexpr std::int64_t padding = 64; // the library writes whole vectors
  const libav& lib_;
  frame_size to_;
  std::int64_t line_;
  std::vector<std::uint8_t> lines_;
  SwsContext* scaler_ = nullptr;
};

/// What the file tells of its frames before one is decoded.
struct video_facts {
  std::int64_t frames = 0;
  double frames_per_second = 0;
  frame_size size;
};

outcome<video_facts> facts_of(const libav& lib, std::string_view bytes, const limits& bounds) {
  const auto file = video_file::open(lib, bytes);
  if (!file) return wrong(file.error());
  video_facts facts{0, (*file)->frames_per_second(), {(*file)->height(), (*file)->width()}};
  const std::int64_t pixels = facts.size.height * facts.size.width;
  if (facts.size.height < 1 || facts.size.width < 1 || pixels > bounds.video_pixels)
    return wrong("has frames of " + std::to_string(facts.size.width) + " by " + std::to_string(facts.size.height) +
                 " pixels, expected 1 to " + std::to_string(bounds.video_pixels) + " in all; make them smaller");
  const std::int64_t most = std::min(bounds.video_frames, bounds.video_work / pixels);
  facts.frames = (*file)->count_packets(most + 1);
  if (facts.frames > most)
    return wrong("has more than the " + std::to_string(most) + " frames of that size that are read; cut it");
  if (facts.frames == 0) return wrong("is a video without a frame; leave it out");
  if (!(facts.frames_per_second > 0)) return wrong("is a video that does not tell its frames per second");
  return facts;
}

} // namespace

outcome<media_input> decode_video(std::string_view file, const limits& bounds, std::size_t most_bytes,
                                  const std::atomic<bool>& cancelled) {
  const auto lib = libav::open();
  if (!lib) return wrong(lib.error());
  const auto facts = facts_of(*lib, file, bounds);
  if (!facts) return wrong(facts.error());
  const frame_choice chosen = choose_frames(facts->frames, facts->frames_per_second);
  const auto size = shrunk(facts->size, std::int64_t(chosen.indices.size()), most_bytes);
  if (!size)
    return wrong("has too many frames: with it the media of this request take more than " +
                 mebibytes(bounds.decoded_bytes) + " decoded; send fewer or shorter ones");
  media_input made;
  made.what = media_input::kind::video;
  made.height = size->height;
  made.width = size->width;
  made.frames_per_second = chosen.frames_per_second;
  made.rgb.reserve(chosen.indices.size() * std::size_t(size->height * size->width * 3));
  const auto track = video_file::open(*lib, file);
  if (!track) return wrong(track.error());
  frame_scaler scaler(*lib, *size);
  std::int64_t at = 0;
  std::size_t next = 0;
  bool convertible = true;
  const auto decoded = (*track)->decode(bounds.video_pixels, [&](const AVFrame& frame) {
    if (at++ == chosen.indices[next]) {
      convertible = scaler.append(frame, made.rgb);
      ++next;
    }
    return convertible && next < chosen.indices.size() && !cancelled;
  });
  if (!decoded) return wrong(decoded.error());
  if (cancelled) return wrong("was not read to its end: the client is gone");
  made.frames = std::int64_t(next > 1 ? next / 2 * 2 : next);
  if (!convertible || made.frames == 0)
    return wrong("is a video of which no frame can be decoded; send it again whole");
  made.rgb.resize(std::size_t(made.frames * made.height * made.width * 3)); // the last ones may be missing or broken
  return made;
}

} // namespace omni::media
