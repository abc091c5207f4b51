#pragma once

#include "kernels/models/qwen3_omni/model_config.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace omni::qwen3_omni {

/// Height and width in pixels.
struct pixel_size {
  std::int64_t height = 0, width = 0;
  friend bool operator==(const pixel_size&, const pixel_size&) = default;
};

/// The size to which a picture is resized: multiples of patch * merge, near its own, within the pixel limits. Nothing
/// for a picture that is more than 200 times as long as wide. Source: `smart_resize` of transformers' Qwen2-VL.
std::optional<pixel_size> resized(pixel_size of, const vision_config& config);

/// Resizes [height, width, 3] bytes by a bicubic filter (a = -0.5) that widens when it shrinks, rounding after each
/// axis, as Pillow does.
std::vector<std::uint8_t> resize_bicubic(std::span<const std::uint8_t> rgb, pixel_size from, pixel_size to);

/// Patches of a picture or of a video's frames: counts along time, height and width.
struct patch_grid {
  std::int64_t time = 0, height = 0, width = 0;
  [[nodiscard]] std::int64_t patches() const { return time * height * width; }
  friend bool operator==(const patch_grid&, const patch_grid&) = default;
};

/// The grid of `frames` frames of that size, before resizing; nothing if they cannot be resized.
std::optional<patch_grid> grid_of(std::int64_t frames, pixel_size size, const vision_config& config);

/// Pixel values [patches, (colour, frame, y, x)] in -1..1 of frames [frames, height, width, 3], which are resized
/// first. Patches that become one row follow each other. A last frame without a partner is shown twice.
std::vector<float> patches_of(std::span<const std::uint8_t> rgb, std::int64_t frames, pixel_size size,
                              const vision_config& config);

} // namespace omni::qwen3_omni
