#include "kernels/models/qwen3_omni/image_patches.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>
#include <cmath>

namespace omni::qwen3_omni {
namespace {

constexpr std::int64_t colours = 3;
constexpr double longest_ratio = 200.0;

/// One output pixel along one axis: weights of the input pixels from `first` on.
struct filter {
  std::int64_t first = 0;
  std::vector<double> weights;
};

double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1.0) return ((a + 2.0) * x - (a + 3.0)) * x * x + 1.0;
  return x < 2.0 ? (((x - 5.0) * x + 8.0) * x - 4.0) * a : 0.0;
}

std::vector<filter> filters_for(std::int64_t from, std::int64_t to) {
  const double scale = static_cast<double>(from) / static_cast<double>(to), widened = std::max(1.0, scale);
  const double reach = 2.0 * widened;
  std::vector<filter> filters(static_cast<std::size_t>(to));
  for (std::int64_t i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * scale;
    auto& f = filters[static_cast<std::size_t>(i)];
    f.first = std::max<std::int64_t>(0, static_cast<std::int64_t>(std::floor(centre - reach + 0.5)));
    const auto end = std::min(from, static_cast<std::int64_t>(std::floor(centre + reach + 0.5)));
    double total = 0.0;
    for (std::int64_t j = f.first; j < end; ++j) {
      f.weights.push_back(cubic((static_cast<double>(j) - centre + 0.5) / widened));
      total += f.weights.back();
    }
    for (auto& w : f.weights) w /= total;
  }
  return filters;
}

/// Filters along one axis. Pixels of a line lie `step` bytes apart, lines `line` bytes; the same of the result.
struct axis {
  std::int64_t step, line;
};
void filter_lines(const std::uint8_t* from, axis in, std::uint8_t* to, axis out, std::int64_t lines,
                  const std::vector<filter>& filters) {
  for (std::int64_t l = 0; l < lines; ++l)
    for (std::size_t i = 0; i < filters.size(); ++i)
      for (std::int64_t c = 0; c < colours; ++c) {
        const auto& f = filters[i];
        double sum = 0.0;
        const std::uint8_t* pixel = from + l * in.line + f.first * in.step + c;
        for (const double w : f.weights) {
          sum += w * static_cast<double>(*pixel);
          pixel += in.step;
        }
        to[l * out.line + static_cast<std::int64_t>(i) * out.step + c] =
            static_cast<std::uint8_t>(std::clamp(std::floor(sum + 0.5), 0.0, 255.0));
      }
}

} // namespace

std::optional<pixel_size> resized(pixel_size of, const vision_config& config) {
  const auto height = static_cast<double>(of.height), width = static_cast<double>(of.width);
  if (std::max(height, width) / std::min(height, width) > longest_ratio) return std::nullopt;
  const auto factor = static_cast<double>(config.patch * config.merge);
  const auto fewest = static_cast<double>(config.min_pixels), most = static_cast<double>(config.max_pixels);
  // To even at a half, like the reference; that is how the machine rounds.
  double to_height = std::nearbyint(height / factor) * factor, to_width = std::nearbyint(width / factor) * factor;
  if (to_height * to_width > most) {
    const double beta = std::sqrt(height * width / most);
    to_height = std::max(factor, std::floor(height / beta / factor) * factor);
    to_width = std::max(factor, std::floor(width / beta / factor) * factor);
  } else if (to_height * to_width < fewest) {
    const double beta = std::sqrt(fewest / (height * width));
    to_height = std::ceil(height * beta / factor) * factor;
    to_width = std::ceil(width * beta / factor) * factor;
  }
  return pixel_size{static_cast<std::int64_t>(to_height), static_cast<std::int64_t>(to_width)};
}

std::vector<std::uint8_t> resize_bicubic(std::span<const std::uint8_t> rgb, pixel_size from, pixel_size to) {
  OMNI_CHECK(static_cast<std::int64_t>(rgb.size()) == from.height * from.width * colours,
             "a picture has all its pixels");
  if (from == to) return {rgb.begin(), rgb.end()};
  std::vector<std::uint8_t> wide(static_cast<std::size_t>(from.height * to.width * colours));
  filter_lines(rgb.data(), {colours, from.width * colours}, wide.data(), {colours, to.width * colours}, from.height,
               filters_for(from.width, to.width));
  std::vector<std::uint8_t> all(static_cast<std::size_t>(to.height * to.width * colours));
  filter_lines(wide.data(), {to.width * colours, colours}, all.data(), {to.width * colours, colours}, to.width,
               filters_for(from.height, to.height));
  return all;
}

std::optional<patch_grid> grid_of(std::int64_t frames, pixel_size size, const vision_config& config) {
  const auto to = resized(size, config);
  if (!to) return std::nullopt;
  return patch_grid{(frames + config.temporal_patch - 1) / config.temporal_patch, to->height / config.patch,
                    to->width / config.patch};
}

std::vector<float> patches_of(std::span<const std::uint8_t> rgb, std::int64_t frames, pixel_size size,
                              const vision_config& config) {
  const auto to = resized(size, config);
  OMNI_CHECK(to.has_value(), "a picture that cannot be resized was refused before");
  const std::int64_t frame_bytes = size.height * size.width * colours;
  std::vector<std::vector<std::uint8_t>> pictures;
  for (std::int64_t f = 0; f < frames; ++f)
    pictures.push_back(resize_bicubic(
        rgb.subspan(static_cast<std::size_t>(f * frame_bytes), static_cast<std::size_t>(frame_bytes)), size, *to));
  const std::int64_t patch = config.patch, merge = config.merge;
  const auto grid = *grid_of(frames, size, config);
  std::vector<float> values;
  values.reserve(static_cast<std::size_t>(grid.patches() * config.patch_values()));
  const auto append = [&](std::int64_t time, std::int64_t row, std::int64_t column) {
    for (std::int64_t c = 0; c < colours; ++c)
      for (std::int64_t f = 0; f < config.temporal_patch; ++f) {
        const auto& picture =
            pictures[static_cast<std::size_t>(std::min(time * config.temporal_patch + f, frames - 1))];
        for (std::int64_t y = row * patch; y < (row + 1) * patch; ++y)
          for (std::int64_t x = column * patch; x < (column + 1) * patch; ++x) {
            const auto byte = picture[static_cast<std::size_t>((y * to->width + x) * colours + c)];
            values.push_back((static_cast<float>(byte) / 255.0F - 0.5F) / 0.5F);
          }
      }
  };
  for (std::int64_t t = 0; t < grid.time; ++t)
    for (std::int64_t top = 0; top < grid.height; top += merge)
      for (std::int64_t left = 0; left < grid.width; left += merge)
        for (std::int64_t i = 0; i < merge * merge; ++i) append(t, top + i / merge, left + i % merge);
  return values;
}

} // namespace omni::qwen3_omni
