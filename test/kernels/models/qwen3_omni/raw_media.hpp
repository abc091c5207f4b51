#pragma once

#include "kernels/runtime/media.hpp"
#include "test/kernels/models/qwen3_omni/omni_case.hpp"

#include <cmath>
#include <memory>

namespace omni::qwen3_omni {

using media_list = std::vector<std::shared_ptr<const media_input>>;

/// The bytes of a picture or video of which the case holds the patches of one grid: nothing was resized to get there.
inline media_input pixels_of(const float* patches, std::int64_t time, std::int64_t height, std::int64_t width,
                             const vision_config& c) {
  media_input media;
  media.what = time == 1 ? media_input::kind::image : media_input::kind::video;
  media.frames = time == 1 ? 1 : time * c.temporal_patch; // a picture is shown twice
  media.height = height * c.patch;
  media.width = width * c.patch;
  media.rgb.resize(static_cast<std::size_t>(media.frames * media.height * media.width * 3));
  for (std::int64_t t = 0; t < time; ++t)
    for (std::int64_t top = 0; top < height; top += c.merge)
      for (std::int64_t left = 0; left < width; left += c.merge)
        for (std::int64_t i = 0; i < c.merge * c.merge; ++i)
          for (std::int64_t colour = 0; colour < 3; ++colour)
            for (std::int64_t f = 0; f < c.temporal_patch; ++f)
              for (std::int64_t y = 0; y < c.patch; ++y)
                for (std::int64_t x = 0; x < c.patch; ++x) {
                  const float value = *patches++;
                  const std::int64_t frame = t * c.temporal_patch + f;
                  if (frame >= media.frames) continue;
                  const std::int64_t row = (top + i / c.merge) * c.patch + y,
                                     column = (left + i % c.merge) * c.patch + x;
                  media.rgb[static_cast<std::size_t>(((frame * media.height + row) * media.width + column) * 3 +
                                                     colour)] =
                      static_cast<std::uint8_t>(std::lround((value * 0.5F + 0.5F) * 255.0F));
                }
  return media;
}

/// The sounds and pictures of a case in the order of its messages, as a client would have sent them.
inline media_list media_of(const golden_case& golden, const vision_config& config) {
  media_list all;
  std::size_t sounds = 0;
  auto add_pictures = [&, at = std::size_t{0}, grid = std::size_t{0}](const std::string& pixels,
                                                                      const std::string& grids) mutable {
    const auto values = golden.f32(pixels);
    const auto g = golden.i32(grids);
    auto media = pixels_of(values.data() + at, g[grid], g[grid + 1], g[grid + 2], config);
    at += static_cast<std::size_t>(g[grid] * g[grid + 1] * g[grid + 2] * config.patch_values());
    grid += 3;
    if (media.what == media_input::kind::video)
      media.frames_per_second =
          static_cast<double>(config.temporal_patch) / golden.f32("video_second_per_grid").front();
    all.push_back(std::make_shared<const media_input>(std::move(media)));
  };
  for (const auto& message : golden.json().at("messages")) {
    if (!message.at("content").is_array()) continue;
    for (const auto& part : message.at("content")) {
      if (part.at("type") == "image") add_pictures("pixel_values", "image_grid_thw");
      if (part.at("type") == "video") add_pictures("pixel_values_videos", "video_grid_thw");
      if (part.at("type") != "audio") continue;
      media_input media;
      media.samples = golden.f32("audio." + std::to_string(sounds++) + ".wave");
      all.push_back(std::make_shared<const media_input>(std::move(media)));
    }
  }
  return all;
}

/// A prompt with one token in place of each run of placeholders, as a chat template makes it.
inline std::vector<std::int32_t> collapsed(const std::vector<std::int32_t>& prompt, const token_ids& tokens) {
  std::vector<std::int32_t> ids;
  for (const auto id : prompt)
    if (ids.empty() || ids.back() != id || !tokens.is_media(id)) ids.push_back(id);
  return ids;
}

} // namespace omni::qwen3_omni
