#pragma once

#include "app/media/libav.hpp"

#include <functional>
#include <memory>
#include <string_view>

namespace omni::media {

/// The video track of a file in memory, read once from front to back. Opens nothing else: no other file, no network.
/// Used by one thread; `lib` and the bytes must outlive it.
class video_file {
public:
  static outcome<std::unique_ptr<video_file>> open(const libav& lib, std::string_view bytes);
  ~video_file();
  video_file(const video_file&) = delete;
  video_file& operator=(const video_file&) = delete;

  /// Counts the packets that are left, one per frame as a rule. Stops after `most`.
  std::int64_t count_packets(std::int64_t most);
  /// As coded.
  [[nodiscard]] std::int64_t height() const { return stream_->codecpar->height; }
  [[nodiscard]] std::int64_t width() const { return stream_->codecpar->width; }
  /// 0 if the file does not tell.
  [[nodiscard]] double frames_per_second() const;
  /// Decodes all frames that are left, in the order in which they are shown, until `take` says false. Frames of more
  /// than `most_pixels` are not decoded.
  outcome<void> decode(std::int64_t most_pixels, const std::function<bool(const AVFrame&)>& take);

private:
  explicit video_file(const libav& lib, std::string_view bytes) : lib_(lib), bytes_(bytes) {}
  outcome<void> open_input();
  bool next_packet();
  static int read(void* self, std::uint8_t* into, int count);
  static std::int64_t seek(void* self, std::int64_t offset, int whence);

  const libav& lib_;
  std::string_view bytes_;
  std::size_t at_ = 0;
  AVIOContext* io_ = nullptr;
  AVFormatContext* format_ = nullptr;
  AVStream* stream_ = nullptr; // of the format
  AVPacket* packet_ = nullptr;
};

} // namespace omni::media
