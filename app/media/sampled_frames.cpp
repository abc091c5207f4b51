#include "app/media/sampled_frames.hpp"

#include <algorithm>
#include <cmath>

namespace omni::media {
namespace {

constexpr double wanted_per_second = 2.0;
constexpr std::int64_t fewest_frames = 4;
constexpr std::int64_t most_frames = 768;
constexpr std::int64_t fewest_pixels = 128 * 28 * 28;
constexpr std::int64_t most_pixels = 768 * 28 * 28;

} // namespace

frame_choice choose_frames(std::int64_t total, double frames_per_second) {
  const std::int64_t most = std::min(most_frames, total) / 2 * 2;
  const double wanted =
      std::clamp(double(total) / frames_per_second * wanted_per_second, double(fewest_frames), double(most_frames));
  const std::int64_t count = std::max<std::int64_t>(1, std::min(std::int64_t(wanted), most) / 2 * 2);
  frame_choice made;
  made.frames_per_second = double(count) / double(total) * frames_per_second;
  const double step = count > 1 ? double(total - 1) / double(count - 1) : 0.0;
  for (std::int64_t i = 0; i < count; ++i) made.indices.push_back(std::int64_t(std::nearbyint(double(i) * step)));
  return made;
}

std::optional<frame_size> shrunk(frame_size from, std::int64_t count, std::size_t most_bytes) {
  const std::int64_t fits = std::int64_t(most_bytes) / 3 / count;
  const std::int64_t most = std::min(most_pixels, fits), pixels = from.height * from.width;
  if (pixels <= most) return from;
  if (most < fewest_pixels) return std::nullopt;
  const double scale = std::sqrt(double(most) / double(pixels));
  const auto scaled = [&](std::int64_t side) {
    return std::max<std::int64_t>(1, std::int64_t(std::floor(double(side) * scale)));
  };
  frame_size to{scaled(from.height), scaled(from.width)};
  to.height = std::min(to.height, std::max<std::int64_t>(1, most / to.width)); // a side of one pixel was rounded up
  to.width = std::min(to.width, std::max<std::int64_t>(1, most / to.height));
  return to;
}

} // namespace omni::media
