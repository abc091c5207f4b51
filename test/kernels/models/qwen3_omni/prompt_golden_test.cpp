#include "kernels/core/error.hpp"
#include "kernels/models/qwen3_omni/prompt.hpp"
#include "test/kernels/models/qwen3_omni/omni_case.hpp"
#include "test/kernels/models/qwen3_omni/raw_media.hpp"

namespace omni::qwen3_omni {
namespace {

using ids = std::vector<std::int32_t>;
using kind = media_input::kind;

std::vector<media_extent> extents_of(const nlohmann::json& about, const model_config& config) {
  std::vector<media_extent> extents;
  const auto add = [&](kind what, const nlohmann::json& grids, const nlohmann::json& seconds) {
    for (std::size_t i = 0; i < grids.size(); ++i) {
      const patch_grid grid{grids[i][0], grids[i][1], grids[i][2]};
      extents.push_back({what, grid.patches() / config.vision.rows_per_patches(), grid,
                         seconds.is_array() ? seconds[i].get<double>() : 0.0});
    }
  };
  if (about.at("image_grid_thw").is_array()) add(kind::image, about.at("image_grid_thw"), nullptr);
  if (about.at("video_grid_thw").is_array()) add(kind::video, about.at("video_grid_thw"), about.at("second_per_grid"));
  if (about.at("audio_frames").is_array())
    for (const auto& frames : about.at("audio_frames"))
      extents.push_back({kind::audio, config.audio.rows_of(frames.get<std::int64_t>()), {}, 0.0});
  return extents;
}

TEST(golden_positions, are_those_of_the_reference) {
  const auto config = load_config(checkpoint_folder());
  for (const auto& golden : test::golden_cases("qwen3_omni", "positions"))
    for (const auto& [name, about] : golden.json().at("prompts").items()) {
      SCOPED_TRACE(name);
      const auto prompt = golden.i32(name + ".input_ids");
      const auto layout = layout_of(prompt, extents_of(about, config), config);
      EXPECT_EQ(layout.positions, positions_of(numbers(golden, name + ".positions")));
      EXPECT_NEAR(layout.next_position, static_cast<float>(prompt.size()) + about.at("delta").get<float>(), 1e-5F);
    }
}

TEST(golden_positions, of_whole_cases_are_those_of_the_reference) {
  auto config = load_config(checkpoint_folder());
  config.vision.min_pixels = 1; // some pictures of the cases are smaller than resized ones
  for (const auto& golden : test::golden_cases("qwen3_omni", "e2e_")) {
    SCOPED_TRACE(golden.name());
    std::vector<media_extent> extents;
    for (const auto& media : media_of(golden, config.vision)) extents.push_back(extent_of(*media, config));
    const auto prompt = golden.i32("input_ids");
    EXPECT_EQ(expanded(collapsed(prompt, config.tokens), extents, config.tokens).tokens, prompt);
    const auto layout = layout_of(prompt, extents, config);
    EXPECT_EQ(layout.positions, positions_of(numbers(golden, "positions")));
    EXPECT_EQ(layout.next_position, numbers(golden, "decode.positions").front());
  }
}

std::string problem_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const input_error& problem) {
    EXPECT_EQ(problem.param, "messages");
    return problem.what();
  }
  return "none";
}

TEST(golden_prompt, refuses_places_that_do_not_fit_the_media) {
  const auto config = load_config(checkpoint_folder());
  const auto& t = config.tokens;
  const media_extent sound{kind::audio, 2, {}, 0.0}, picture{kind::image, 1, {1, 2, 2}, 0.0};
  const auto expand = [&](const ids& prompt, const std::vector<media_extent>& media) {
    return problem_of([&] { (void)expanded(prompt, media, t); });
  };
  const auto layout = [&](const ids& prompt, const std::vector<media_extent>& media) {
    return problem_of([&] { (void)layout_of(prompt, media, config); });
  };
  EXPECT_EQ(expand({1, t.audio_pad, 2, t.image_pad}, {sound, picture}), "none");
  EXPECT_NE(expand({1, t.image_pad, 2, t.audio_pad}, {sound, picture}).find("picture"), std::string::npos);
  EXPECT_NE(expand({1}, {sound}).find("sound"), std::string::npos);
  EXPECT_NE(expand({t.video_pad}, {}).find("video"), std::string::npos);
  EXPECT_EQ(layout({t.audio_pad, t.audio_pad, 5, t.image_pad}, {sound, picture}), "none");
  EXPECT_NE(layout({t.audio_pad, 5, t.image_pad}, {sound, picture}).find("sound"), std::string::npos);
  EXPECT_NE(layout({t.audio_pad, t.audio_pad, t.audio_pad}, {sound}).find("sound"), std::string::npos);
  EXPECT_NE(layout({5}, {sound, picture}).find("sound"), std::string::npos);
  EXPECT_NE(layout({t.image_pad}, {}).find("picture"), std::string::npos);
}

TEST(golden_prompt, refuses_media_that_cannot_be_taken) {
  const auto config = load_config(checkpoint_folder());
  const auto problem = [&](const media_input& media) { return problem_of([&] { (void)extent_of(media, config); }); };
  media_input sound, picture, video;
  EXPECT_EQ(problem(sound), "A sound of this conversation is empty: leave it out.");
  picture.what = kind::image;
  EXPECT_EQ(problem(picture), "A picture of this conversation has no pixels: leave it out.");
  picture.height = 2;
  picture.width = 500;
  picture.rgb.resize(3000);
  EXPECT_NE(problem(picture).find("200 times"), std::string::npos);
  video.what = kind::video;
  video.height = video.width = 64;
  video.rgb.resize(64 * 64 * 3);
  video.frames_per_second = 0.0;
  EXPECT_NE(problem(video).find("frames per second"), std::string::npos);
  video.frames_per_second = 4.0;
  EXPECT_EQ(problem(video), "none");
  EXPECT_EQ(extent_of(video, config).seconds_per_grid, 0.5);
}

} // namespace
} // namespace omni::qwen3_omni
