#include "app/media/sound.hpp"

#include "test/app/support/media_files.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>
#include <numbers>
#include <sndfile.h>

namespace omni::media {
namespace {

constexpr std::size_t plenty = std::size_t{1} << 30U;

std::vector<float> tone(int rate, double seconds, double hertz = 440) {
  std::vector<float> out(std::size_t(rate * seconds));
  for (std::size_t i = 0; i < out.size(); ++i)
    out[i] = 0.5F * float(std::sin(2 * std::numbers::pi * hertz * double(i) / rate));
  return out;
}

/// The largest difference away from the ends, where a resampler's filter sees silence.
float difference(const std::vector<float>& a, const std::vector<float>& b) {
  float most = 0;
  for (std::size_t i = 500; i + 500 < a.size(); ++i) most = std::max(most, std::abs(a[i] - b[i]));
  return most;
}

TEST(sound, sixteen_kilohertz_float_comes_out_as_it_is) {
  const auto samples = tone(16'000, 0.3);
  const auto got = decode_sound(test::sound_file(samples, 16'000, 1, SF_FORMAT_WAV | SF_FORMAT_FLOAT), {}, plenty);
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(got->what, media_input::kind::audio);
  EXPECT_EQ(got->samples, samples);
}

struct sound_case {
  int format;
  int rate;
  float tolerance;
};
class sound_format : public ::testing::TestWithParam<sound_case> {};

TEST_P(sound_format, becomes_the_tone_at_sixteen_kilohertz) {
  const auto& [format, rate, tolerance] = GetParam();
  const auto got = decode_sound(test::sound_file(tone(rate, 1), rate, 1, format), {}, plenty);
  ASSERT_TRUE(got) << got.error();
  ASSERT_GE(got->samples.size(), 16'000U);
  ASSERT_LE(got->samples.size(), 16'000U + 4'000U); // lossy formats pad
  EXPECT_LT(difference(tone(16'000, 1), got->samples), tolerance);
}

INSTANTIATE_TEST_SUITE_P(of, sound_format,
                         ::testing::Values(sound_case{SF_FORMAT_WAV | SF_FORMAT_PCM_16, 16'000, 1e-4F},
                                           sound_case{SF_FORMAT_WAV | SF_FORMAT_PCM_16, 44'100, 1e-3F},
                                           sound_case{SF_FORMAT_WAV | SF_FORMAT_PCM_U8, 8'000, 2e-2F},
                                           sound_case{SF_FORMAT_FLAC | SF_FORMAT_PCM_24, 48'000, 1e-3F},
                                           sound_case{SF_FORMAT_OGG | SF_FORMAT_VORBIS, 22'050, 5e-2F},
                                           sound_case{SF_FORMAT_OGG | SF_FORMAT_OPUS, 48'000, 1e-1F}));

TEST(sound, mp3_is_read) {
  const auto got =
      decode_sound(test::sound_file(tone(44'100, 1), 44'100, 1, SF_FORMAT_MPEG | SF_FORMAT_MPEG_LAYER_III), {}, plenty);
  ASSERT_TRUE(got) << got.error();
  EXPECT_NEAR(double(got->samples.size()), 16'000, 2'000);
}

TEST(sound, length_is_rounded_up) {
  for (const std::size_t samples : {1U, 2U, 3U, 4'097U, 44'101U}) {
    const auto got = decode_sound(
        test::sound_file(std::vector<float>(samples, 0.25F), 44'100, 1, SF_FORMAT_WAV | SF_FORMAT_PCM_16), {}, plenty);
    ASSERT_TRUE(got) << got.error();
    EXPECT_EQ(got->samples.size(), std::size_t(std::ceil(double(samples) * 16'000 / 44'100)));
  }
}

TEST(sound, channels_are_averaged) {
  const std::vector<float> stereo = {0.5F, -0.25F, 1.0F, 0.0F, -0.5F, -0.5F};
  const auto got = decode_sound(test::sound_file(stereo, 16'000, 2, SF_FORMAT_WAV | SF_FORMAT_FLOAT), {}, plenty);
  ASSERT_TRUE(got) << got.error();
  EXPECT_EQ(got->samples, (std::vector<float>{0.125F, 0.5F, -0.5F}));
}

TEST(sound, what_is_too_much_is_refused) {
  const int wav = SF_FORMAT_WAV | SF_FORMAT_PCM_16;
  const std::string second = test::sound_file(tone(16'000, 1.5), 16'000, 1, wav);
  limits bounds;
  bounds.sound_seconds = 1;
  EXPECT_NE(decode_sound(second, bounds, plenty).error().find("longer than the 1 seconds"), std::string::npos);
  EXPECT_FALSE(decode_sound(second, {}, 1'000));
  bounds = {};
  bounds.sound_channels = 1;
  EXPECT_NE(decode_sound(test::sound_file({0, 0}, 16'000, 2, wav), bounds, plenty).error().find("2 channels"),
            std::string::npos);
  EXPECT_NE(decode_sound(test::sound_file({0, 0}, 500, 1, wav), {}, plenty).error().find("500 samples per second"),
            std::string::npos);
}

TEST(sound, what_is_no_sound_is_refused) {
  EXPECT_FALSE(decode_sound("", {}, plenty));
  EXPECT_FALSE(decode_sound("hello, this is text", {}, plenty));
  EXPECT_FALSE(decode_sound(std::string(10'000, '\xFF'), {}, plenty));
  const int wav = SF_FORMAT_WAV | SF_FORMAT_FLOAT;
  EXPECT_FALSE(decode_sound(test::sound_file({}, 16'000, 1, wav), {}, plenty));
  EXPECT_FALSE(
      decode_sound(test::sound_file({0, std::numeric_limits<float>::quiet_NaN()}, 16'000, 1, wav), {}, plenty));
  EXPECT_FALSE(decode_sound(test::sound_file({0, 1e20F}, 16'000, 1, wav), {}, plenty));
}

TEST(sound, a_file_cut_anywhere_is_read_or_refused) {
  for (const int format : {SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_FLAC | SF_FORMAT_PCM_16}) {
    const std::string whole = test::sound_file(tone(16'000, 0.05), 16'000, 1, format);
    for (std::size_t bytes = 0; bytes < whole.size(); bytes += 7) {
      const auto got = decode_sound(std::string_view(whole).substr(0, bytes), {}, plenty);
      EXPECT_TRUE(got || !got.error().empty());
    }
  }
}

} // namespace
} // namespace omni::media
