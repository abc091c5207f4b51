#include "app/media/picture.hpp"

#include "app/media/exif.hpp"
#include "test/app/support/media_files.hpp"

#include <cstdlib>
#include <gtest/gtest.h>

namespace omni::media {
namespace {

using bytes = std::vector<std::uint8_t>;
constexpr std::size_t plenty = std::size_t{1} << 30U;

bytes ramp(std::size_t count) {
  bytes out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = std::uint8_t(i * 7);
  return out;
}

TEST(picture, png_comes_out_as_it_is) {
  const auto rgb = ramp(5 * 7 * 3);
  const auto got = decode_picture(test::png_file(rgb, 5, 7), {}, plenty);
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(got->what, media_input::kind::image);
  EXPECT_EQ(got->frames, 1);
  EXPECT_EQ(got->height, 5);
  EXPECT_EQ(got->width, 7);
  EXPECT_EQ(got->rgb, rgb);
}

TEST(picture, transparent_parts_show_white) {
  const bytes rgba = {10, 20, 30, 255, 10, 20, 30, 0, 0, 100, 255, 128};
  const bytes wanted = {10, 20, 30, 255, 255, 255, 127, 177, 255};
  for (const std::string& file : {test::png_file(rgba, 1, 3, true), test::webp_file(rgba, 1, 3)}) {
    const auto got = decode_picture(file, {}, plenty);
    ASSERT_TRUE(got) << got.error();
    EXPECT_EQ(got->rgb, wanted);
  }
}

TEST(picture, webp_is_read) {
  bytes rgba;
  bytes rgb;
  for (int i = 0; i < 6 * 4; ++i)
    for (int c = 0; c < 4; ++c) {
      rgba.push_back(c == 3 ? 255 : std::uint8_t(i * 10 + c));
      if (c < 3) rgb.push_back(rgba.back());
    }
  const auto got = decode_picture(test::webp_file(rgba, 6, 4), {}, plenty);
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(got->rgb, rgb);
}

/// Left half dark, right half light; the top row of blocks brighter by a little.
bytes halves() {
  bytes rgb;
  for (int y = 0; y < 16; ++y)
    for (int x = 0; x < 32; ++x) rgb.insert(rgb.end(), 3, std::uint8_t((x < 16 ? 40 : 200) + (y < 8 ? 30 : 0)));
  return rgb;
}

TEST(picture, jpeg_is_read) {
  const auto rgb = halves();
  const auto got = decode_picture(test::jpeg_file(rgb, 16, 32), {}, plenty);
  ASSERT_TRUE(got) << got.error();
  ASSERT_EQ(got->rgb.size(), rgb.size());
  for (std::size_t i = 0; i < rgb.size(); ++i) ASSERT_NEAR(got->rgb[i], rgb[i], 3) << i;
}

struct turn {
  int orientation;
  std::uint8_t top_left, top_right, bottom_left, bottom_right;
};
class orientation : public ::testing::TestWithParam<turn> {};

TEST_P(orientation, is_applied) {
  const auto& want = GetParam();
  const auto got = decode_picture(test::jpeg_file(halves(), 16, 32, want.orientation), {}, plenty);
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(got->height, want.orientation > 4 ? 32 : 16);
  EXPECT_EQ(got->width, want.orientation > 4 ? 16 : 32);
  const auto at = [&](std::int64_t y, std::int64_t x) { return int(got->rgb[std::size_t((y * got->width + x) * 3)]); };
  EXPECT_NEAR(at(0, 0), want.top_left, 3);
  EXPECT_NEAR(at(0, got->width - 1), want.top_right, 3);
  EXPECT_NEAR(at(got->height - 1, 0), want.bottom_left, 3);
  EXPECT_NEAR(at(got->height - 1, got->width - 1), want.bottom_right, 3);
}

// As stored: 70 230 / 40 200.
INSTANTIATE_TEST_SUITE_P(each, orientation,
                         ::testing::Values(turn{1, 70, 230, 40, 200}, turn{2, 230, 70, 200, 40},
                                           turn{3, 200, 40, 230, 70}, turn{4, 40, 200, 70, 230},
                                           turn{5, 70, 40, 230, 200}, turn{6, 40, 70, 200, 230},
                                           turn{7, 200, 230, 40, 70}, turn{8, 230, 200, 70, 40}));

TEST(exif, garbage_means_upright) {
  EXPECT_EQ(exif_orientation(""), 1);
  EXPECT_EQ(exif_orientation("\xFF\xD8\xFF\xE1"), 1);
  const std::string good = test::jpeg_file(halves(), 16, 32, 6);
  EXPECT_EQ(exif_orientation(good), 6);
  for (std::size_t at = 2; at < 40; ++at) {
    EXPECT_EQ(exif_orientation(good.substr(0, std::min<std::size_t>(at, 30))), 1);
    std::string changed = good;
    changed[at] = '\xFF';
    const int got = exif_orientation(changed);
    EXPECT_TRUE(got >= 1 && got <= 8);
  }
}

TEST(picture, what_is_too_large_is_refused_before_its_pixels_are_read) {
  limits bounds;
  bounds.picture_pixels = 16 * 32 - 1;
  const std::vector<std::string> files = {test::png_file(halves(), 16, 32), test::jpeg_file(halves(), 16, 32),
                                          test::webp_file(ramp(16 * 32 * 4), 16, 32)};
  for (const std::string& file : files) {
    const auto got = decode_picture(file, bounds, plenty);
    ASSERT_FALSE(got);
    EXPECT_NE(got.error().find("32 by 16 pixels"), std::string::npos) << got.error();
    EXPECT_FALSE(decode_picture(file, {}, 16 * 32 * 3 - 1));
    EXPECT_TRUE(decode_picture(file, {}, 16 * 32 * 3));
  }
  // A header that promises 2^32 pixels needs no file to match.
  std::string huge = files[0];
  huge.replace(16, 8, std::string("\x00\x01\x00\x00\x00\x01\x00\x00", 8));
  EXPECT_FALSE(decode_picture(huge, {}, plenty));
}

TEST(picture, what_is_no_picture_is_refused) {
  for (const std::string& file :
       {std::string(), std::string("hello"), std::string("\xFF\xD8\xFF"), std::string("\x89PNG\r\n\x1A\n"),
        std::string("RIFF....WEBPVP8 "), std::string("GIF89a")}) {
    const auto got = decode_picture(file, {}, plenty);
    ASSERT_FALSE(got);
    EXPECT_FALSE(got.error().empty());
  }
}

TEST(picture, a_file_cut_short_is_refused) {
  for (const std::string& file : {test::png_file(ramp(64 * 64 * 3), 64, 64), test::jpeg_file(ramp(64 * 64 * 3), 64, 64),
                                  test::webp_file(ramp(64 * 64 * 4), 64, 64)})
    for (std::size_t size = 0; size + 64 < file.size(); size += 97)
      EXPECT_FALSE(decode_picture(file.substr(0, size), {}, plenty));
}

} // namespace
} // namespace omni::media
