#include "app/media/frame_list.hpp"

#include "app/media/base64.hpp"
#include "app/media/picture.hpp"

#include <algorithm>

namespace omni::media {
namespace {

constexpr std::int64_t most_frames = 768;
constexpr double frames_per_second = 2.0;

} // namespace

outcome<media_input> decode_frame_list(std::string_view text, const limits& bounds, std::size_t most_bytes) {
  const std::int64_t count = 1 + std::count(text.begin(), text.end(), ',');
  if (count > most_frames)
    return wrong("holds " + std::to_string(count) + " frames, expected at most " + std::to_string(most_frames));
  media_input made;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::string name = "has a frame (number " + std::to_string(i) + ") that ";
    const std::size_t end = std::min(text.find(','), text.size());
    const auto file = from_base64(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!file || file->empty()) return wrong(name + "is not base64");
    auto frame = decode_picture(*file, bounds, most_bytes - made.rgb.size());
    if (!frame) return wrong(name + frame.error());
    if (i == 0)
      made = std::move(*frame);
    else if (frame->height != made.height || frame->width != made.width)
      return wrong(name + "is not as large as the first: send frames of one size");
    else
      made.rgb.insert(made.rgb.end(), frame->rgb.begin(), frame->rgb.end());
  }
  made.what = media_input::kind::video;
  made.frames = count;
  made.frames_per_second = frames_per_second;
  return made;
}

} // namespace omni::media
