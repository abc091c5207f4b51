#include "kernels/models/qwen3_omni/audio_encoder.hpp"
#include "kernels/models/qwen3_omni/vision_encoder.hpp"
#include "test/kernels/models/qwen3_omni/omni_case.hpp"
#include "test/support/compute_fixture.hpp"
#include "test/support/random_floats.hpp"

#include <cstdio>
#include <fstream>
#include <map>

namespace omni::qwen3_omni {
namespace {

using test::compute_fixture;

/// [rows, columns] turned.
floats turned(const floats& x, const shape& extents) {
  floats y(x.size());
  for (std::int64_t r = 0; r < extents[0]; ++r)
    for (std::int64_t c = 0; c < extents[1]; ++c)
      y[static_cast<std::size_t>(c * extents[0] + r)] = x[static_cast<std::size_t>(r * extents[1] + c)];
  return y;
}

struct recorder {
  std::map<std::string, floats> seen; // tensors of the same name after each other
  tensor_observer observer() {
    return [this](const std::string& name, const tensor& t) {
      seen[name].insert(seen[name].end(), t.f32(), t.f32() + t.values());
    };
  }
};

/// "layers.3" or "blocks.3" of the golden data is "layers.3.hidden" here.
std::string seen_name(const std::string& name) {
  for (const std::string prefix : {"layers.", "blocks."})
    if (name.starts_with(prefix)) return "layers." + name.substr(prefix.size()) + ".hidden";
  return name;
}

audio_encoder load_audio() {
  const auto [config, file] = open_model();
  return {config.audio, *file, false};
}

TEST(golden_mel, has_the_filters_of_the_reference) {
  const audio::mel_features features(128);
  for (const auto& golden : test::golden_cases("qwen3_omni", "mel_filters")) {
    const auto expected = golden.f32("filters");
    const floats found(features.filters().begin(), features.filters().end());
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_LE(test::absolute_max(found.data(), expected.data(), static_cast<std::int64_t>(found.size())), 1e-7);
  }
}

TEST(golden_mel, agrees_with_the_reference) {
  const audio::mel_features features(128);
  for (const auto& golden : test::golden_cases("qwen3_omni", "mel_")) {
    if (!golden.has("wave")) continue;
    SCOPED_TRACE(golden.name());
    const auto wave = golden.f32("wave");
    const auto found = features.of(wave);
    expect_tail(found, turned(golden.f32("mel"), golden.extents("mel")), "mel", 1e-4);
    EXPECT_EQ(static_cast<std::int64_t>(found.size()),
              128 * audio::mel_features::frames_of(static_cast<std::int64_t>(wave.size())));
  }
}

TEST(mel_features, fills_a_short_clip_up_with_silence) {
  const audio::mel_features features(128);
  const floats click{0.5F, -0.5F, 0.25F};
  EXPECT_EQ(features.of(click).size(), 128U);
  EXPECT_EQ(features.of({}), floats(128, -1.5F)); // silence: log10(1e-10)
}

TEST(golden_audio, has_as_many_rows_as_the_reference) {
  const auto [config, file] = open_model();
  for (const auto& path : test::golden_files("qwen3_omni", "audio_token_counts.json")) {
    const auto counts = nlohmann::json::parse(std::ifstream(path)).at("frames_to_tokens");
    for (const auto& [frames, rows] : counts.items())
      EXPECT_EQ(config.audio.rows_of(std::stoll(frames)), rows.get<std::int64_t>()) << frames;
  }
}

TEST(golden_audio, agrees_with_the_reference_layer_by_layer) {
  const auto encoder = load_audio();
  compute_fixture on;
  for (const auto& golden : test::golden_cases("qwen3_omni", "audio_L")) {
    SCOPED_TRACE(golden.name());
    recorder recorded;
    const tensor_observer observer = recorded.observer();
    recorded.seen["output"] = encoder.encode(turned(golden.f32("mel"), golden.extents("mel")),
                                             golden.extents("mel")[1] >= 100, &observer, on.context);
    for (const auto& name : golden.tensors().names())
      if (name != "mel") expect_close(recorded.seen.at(seen_name(name)), golden.f32(name), name);
  }
}

TEST(golden_audio, windows_are_independent) {
  const auto [config, file] = open_model();
  const audio_encoder encoder(config.audio, *file, false);
  compute_fixture on;
  const std::int64_t window = config.audio.window_frames();
  const auto mel = test::random_floats((2 * window + 37) * config.audio.mels, 1);
  const auto whole = encoder.encode(mel, true, nullptr, on.context);
  const auto size = static_cast<std::size_t>(window * config.audio.mels);
  floats apart;
  for (std::size_t first = 0; first < mel.size(); first += size) {
    const auto part = std::span(mel).subspan(first, std::min(size, mel.size() - first));
    const auto some = encoder.encode(part, true, nullptr, on.context);
    apart.insert(apart.end(), some.begin(), some.end());
  }
  EXPECT_EQ(apart, whole);
}

vision_encoder load_vision() {
  const auto [config, file] = open_model();
  return {config.vision, *file, false};
}

TEST(golden_vision, agrees_with_the_reference_layer_by_layer) {
  const auto encoder = load_vision();
  const auto& config = encoder.config();
  compute_fixture on;
  for (const auto& golden : test::golden_cases("qwen3_omni", "vision_")) {
    SCOPED_TRACE(golden.name());
    recorder recorded;
    const tensor_observer observer = recorded.observer();
    const auto pixels = golden.f32("pixel_values");
    const auto grids = golden.i32("grid_thw");
    std::map<std::string, floats>& seen = recorded.seen;
    std::size_t at = 0;
    for (std::size_t g = 0; g < grids.size(); g += 3) {
      const patch_grid grid{grids[g], grids[g + 1], grids[g + 2]};
      const auto count = static_cast<std::size_t>(grid.patches() * config.patch_values());
      const auto rows = encoder.encode(std::span(pixels).subspan(at, count), grid, &observer, on.context);
      at += count;
      const auto out = static_cast<std::size_t>(config.out), parts = 1 + config.deepstack.size();
      for (std::size_t r = 0; r < rows.size(); r += parts * out)
        for (std::size_t part = 0; part < parts; ++part) {
          auto& to = seen[part == 0 ? "output" : "deepstack." + std::to_string(part - 1)];
          const auto from = rows.begin() + static_cast<std::ptrdiff_t>(r + part * out);
          to.insert(to.end(), from, from + static_cast<std::ptrdiff_t>(out));
        }
    }
    for (const auto& name : golden.tensors().names())
      if (name != "pixel_values" && name != "grid_thw") expect_close(seen.at(seen_name(name)), golden.f32(name), name);
  }
}

TEST(golden_vision, instants_are_independent) {
  const auto encoder = load_vision();
  const auto& config = encoder.config();
  compute_fixture on;
  const patch_grid video{3, 4, 6}, instant{1, 4, 6};
  const auto pixels = test::random_floats(video.patches() * config.patch_values(), 1);
  floats apart;
  for (std::size_t t = 0; t < 3; ++t) {
    const auto size = pixels.size() / 3;
    const auto some = encoder.encode(std::span(pixels).subspan(t * size, size), instant, nullptr, on.context);
    apart.insert(apart.end(), some.begin(), some.end());
  }
  EXPECT_EQ(apart, encoder.encode(pixels, video, nullptr, on.context));
}

TEST(golden_image, sizes_are_those_of_the_reference) {
  for (const auto& path : test::golden_files("qwen3_omni", "image_sizes.json")) {
    const auto sizes = nlohmann::json::parse(std::ifstream(path)).at("sizes");
    for (const auto& [key, expected] : sizes.items()) {
      vision_config config;
      config.patch = 16;
      config.merge = 2;
      pixel_size size;
      ASSERT_EQ(std::sscanf(key.c_str(), "%ldx%ld:%ld:%ld", &size.height, &size.width, &config.min_pixels,
                            &config.max_pixels),
                4);
      const auto found = resized(size, config);
      ASSERT_EQ(found.has_value(), !expected.is_null()) << key;
      EXPECT_TRUE(!found || *found == (pixel_size{expected[0], expected[1]})) << key;
    }
  }
}

TEST(golden_image, becomes_patches_as_in_the_reference) {
  const auto [model, file] = open_model();
  for (const auto& golden : test::golden_cases("qwen3_omni", "image_")) {
    SCOPED_TRACE(golden.name());
    auto config = model.vision;
    config.min_pixels = golden.json().at("min_pixels");
    config.max_pixels = golden.json().at("max_pixels");
    const auto image = golden.u8("image");
    const pixel_size size{golden.json().at("height"), golden.json().at("width")};
    const auto grid = golden.i32("image_grid_thw");
    EXPECT_EQ(grid_of(1, size, config), (patch_grid{grid[0], grid[1], grid[2]}));
    const auto found = patches_of(image, 1, size, config), expected = golden.f32("pixel_values");
    const bool as_it_is = resized(size, config) == size;
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_LE(test::absolute_max(found.data(), expected.data(), static_cast<std::int64_t>(found.size())),
              as_it_is ? 1e-6 : 0.016);
  }
}

TEST(image_patches, show_the_last_frame_of_a_video_twice_if_it_has_no_partner) {
  vision_config config;
  config.patch = 2;
  config.merge = 2;
  config.temporal_patch = 2;
  config.min_pixels = 1;
  config.max_pixels = 10000;
  const pixel_size size{8, 4};
  std::vector<std::uint8_t> frames(3 * 8 * 4 * 3);
  for (std::size_t i = 0; i < frames.size(); ++i) frames[i] = static_cast<std::uint8_t>(i * 7);
  EXPECT_EQ(grid_of(3, size, config), (patch_grid{2, 4, 2}));
  const auto three = patches_of(frames, 3, size, config);
  frames.insert(frames.end(), frames.end() - 96, frames.end());
  EXPECT_EQ(patches_of(frames, 4, size, config), three);
  EXPECT_EQ(three.size(), 2U * 4 * 2 * 3 * 2 * 2 * 2);
  EXPECT_FALSE(grid_of(1, {4, 804}, config));
}

} // namespace
} // namespace omni::qwen3_omni
