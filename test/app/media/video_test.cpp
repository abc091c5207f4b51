#include "app/media/video.hpp"

#include "app/media/base64.hpp"
#include "app/media/frame_list.hpp"
#include "app/media/sampled_frames.hpp"
#include "test/app/support/media_files.hpp"

#include <gtest/gtest.h>

namespace omni::media {
namespace {

constexpr std::size_t plenty = std::size_t{256} << 20U;
const std::atomic<bool> going{false};

/// `count` frames, each a little lighter than the one before.
std::vector<std::string> frames(int count, int height = 32, int width = 48) {
  std::vector<std::string> out;
  for (int i = 0; i < count; ++i)
    out.push_back(test::jpeg_file(test::plain_picture(height, width, std::uint8_t(10 + i * 4)), height, width));
  return out;
}

int grey_of(const media_input& video, std::int64_t frame) {
  return video.rgb[std::size_t(frame * video.height * video.width * 3)];
}

TEST(frame_choice, is_two_per_second_spread_over_all) {
  const auto made = choose_frames(61, 10); // 12.2 frames are 6.1 s at 2 per second: 12, an even number
  ASSERT_EQ(made.indices.size(), 12U);
  EXPECT_EQ(made.indices.front(), 0);
  EXPECT_EQ(made.indices.back(), 60);
  EXPECT_EQ(made.indices[1], 5); // 60 / 11
  EXPECT_DOUBLE_EQ(made.frames_per_second, 12.0 / 61 * 10);
}

TEST(frame_choice, keeps_its_bounds) {
  EXPECT_EQ(choose_frames(1, 25).indices, (std::vector<std::int64_t>{0}));
  EXPECT_EQ(choose_frames(2, 25).indices, (std::vector<std::int64_t>{0, 1}));
  EXPECT_EQ(choose_frames(3, 25).indices, (std::vector<std::int64_t>{0, 2}));
  EXPECT_EQ(choose_frames(10, 25).indices, (std::vector<std::int64_t>{0, 3, 6, 9}));
  EXPECT_EQ(choose_frames(100'000, 25).indices.size(), 768U);
  EXPECT_EQ(choose_frames(100'000, 25).indices.back(), 99'999);
  for (std::int64_t total = 1; total < 200; ++total)
    for (const double rate : {0.1, 1.0, 23.976, 1e6}) {
      const auto made = choose_frames(total, rate);
      for (std::size_t i = 1; i < made.indices.size(); ++i) ASSERT_LT(made.indices[i - 1], made.indices[i]);
      ASSERT_LT(made.indices.back(), total);
      ASSERT_TRUE(total == 1 || made.indices.size() % 2 == 0);
    }
}

TEST(frame_shrinking, keeps_shape_and_budget) {
  EXPECT_EQ(shrunk({480, 640}, 100, plenty), (frame_size{480, 640}));
  const auto hd = shrunk({1080, 1920}, 10, plenty);
  ASSERT_TRUE(hd);
  EXPECT_LE(hd->height * hd->width, 768 * 28 * 28);
  EXPECT_GT(hd->height * hd->width, 768 * 28 * 28 * 98 / 100);
  EXPECT_NEAR(double(hd->width) / double(hd->height), 16.0 / 9, 0.01);
  const auto many = shrunk({1080, 1920}, 768, plenty);
  ASSERT_TRUE(many);
  EXPECT_LE(std::size_t(many->height * many->width) * 3 * 768, plenty);
  EXPECT_FALSE(shrunk({1080, 1920}, 768, plenty / 2));
  const auto line = shrunk({1, 4'000'000}, 2, plenty);
  ASSERT_TRUE(line);
  EXPECT_LE(line->height * line->width, 768 * 28 * 28);
}

TEST(video, chosen_frames_are_decoded_in_order) {
  const auto got = decode_video(test::avi_file(frames(40), 32, 48, 10), {}, plenty, going); // 4 s
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(got->what, media_input::kind::video);
  EXPECT_EQ(got->height, 32);
  EXPECT_EQ(got->width, 48);
  ASSERT_EQ(got->frames, 8);
  EXPECT_DOUBLE_EQ(got->frames_per_second, 2);
  ASSERT_EQ(got->rgb.size(), 8U * 32 * 48 * 3);
  const auto chosen = choose_frames(40, 10).indices;
  for (std::int64_t i = 0; i < 8; ++i) EXPECT_NEAR(grey_of(*got, i), 10 + chosen[std::size_t(i)] * 4, 3) << i;
}

TEST(video, what_is_too_much_is_refused) {
  const std::string file = test::avi_file(frames(12), 32, 48, 4);
  limits bounds;
  bounds.video_frames = 11;
  EXPECT_NE(decode_video(file, bounds, plenty, going).error().find("more than the 11 frames"), std::string::npos);
  bounds = {};
  bounds.video_pixels = 32 * 48 - 1;
  EXPECT_NE(decode_video(file, bounds, plenty, going).error().find("48 by 32 pixels"), std::string::npos);
  bounds = {};
  bounds.video_work = 32 * 48 * 11;
  EXPECT_FALSE(decode_video(file, bounds, plenty, going));
  EXPECT_FALSE(decode_video(file, {}, 32 * 48 * 3, going));
}

TEST(video, stops_when_the_client_is_gone) {
  EXPECT_FALSE(decode_video(test::avi_file(frames(12), 32, 48, 4), {}, plenty, true));
}

TEST(video, what_is_no_video_is_refused) {
  const std::string file = test::avi_file(frames(4), 32, 48, 4);
  for (const std::string& bytes : {std::string(), std::string("hello"), std::string(100'000, '\xFF'),
                                   file.substr(0, 100), test::sound_file({0, 0}, 16'000, 1, 0x010002)}) {
    const auto got = decode_video(bytes, {}, plenty, going);
    ASSERT_FALSE(got);
    EXPECT_FALSE(got.error().empty());
  }
}

TEST(video, a_playlist_opens_nothing) {
  const auto got = decode_video("#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n", {}, plenty, going);
  ASSERT_FALSE(got);
}

TEST(frame_list, is_a_video_of_two_frames_per_second) {
  std::string text;
  for (const std::string& file : frames(3)) {
    if (!text.empty()) text += ',';
    text += to_base64(file);
  }
  const auto got = decode_frame_list(text, {}, plenty);
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(got->frames, 3);
  EXPECT_EQ(got->rgb.size(), 3U * 32 * 48 * 3);
  EXPECT_DOUBLE_EQ(got->frames_per_second, 2);
  EXPECT_NEAR(grey_of(*got, 2), 18, 2);
  EXPECT_FALSE(decode_frame_list(text + ",", {}, plenty));
  EXPECT_FALSE(decode_frame_list(text + "," + to_base64(frames(1, 16, 16)[0]), {}, plenty));
  EXPECT_FALSE(decode_frame_list(text + ",!!!!", {}, plenty));
  EXPECT_FALSE(decode_frame_list(text, {}, 3U * 32 * 48 * 3 - 1));
  EXPECT_FALSE(decode_frame_list(std::string(800, ','), {}, plenty));
}

} // namespace
} // namespace omni::media
