#include "kernels/audio/wav.hpp"

#include "kernels/audio/pcm.hpp"
#include "test/kernels/weights/file_builder.hpp"

#include <cmath>
#include <gmock/gmock.h>
#include <limits>

namespace omni::audio {
namespace {

using test::exact_bytes;
using test::file_builder;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<int> codes(const std::string& s16le) {
  std::vector<int> values;
  for (std::size_t i = 0; i + 1 < s16le.size(); i += 2)
    values.push_back(static_cast<std::int16_t>(static_cast<unsigned char>(s16le[i]) |
                                               static_cast<unsigned char>(s16le[i + 1]) << 8));
  return values;
}

TEST(to_s16le, scales_rounds_and_clips) {
  const std::vector<float> samples{0,
                                   1,
                                   -1,
                                   0.5F,
                                   1.5F,
                                   -7,
                                   1e-6F,
                                   0.00002F,
                                   std::numeric_limits<float>::infinity(),
                                   std::numeric_limits<float>::quiet_NaN()};
  EXPECT_THAT(codes(to_s16le(samples)), ElementsAre(0, 32767, -32767, 16384, 32767, -32767, 0, 1, 32767, 0));
}

TEST(to_s16le, of_pieces_is_that_of_the_whole) {
  std::vector<float> samples;
  for (int i = 0; i < 100; ++i) samples.push_back(std::sin(static_cast<float>(i)) * 1.2F);
  const auto whole = to_s16le(samples);
  EXPECT_EQ(to_s16le(std::span(samples).first(33)) + to_s16le(std::span(samples).subspan(33)), whole);
}

TEST(wav, begins_with_a_header_of_44_bytes) {
  const auto header = wav_header({22050, 1}, 1000);
  file_builder want;
  want.raw("RIFF").number<std::uint32_t>(1036).raw("WAVEfmt ").number<std::uint32_t>(16).number<std::uint16_t>(1);
  want.number<std::uint16_t>(1).number<std::uint32_t>(22050).number<std::uint32_t>(44100).number<std::uint16_t>(2);
  want.number<std::uint16_t>(16).raw("data").number<std::uint32_t>(1000);
  EXPECT_EQ(header, want.text);
}

TEST(wav, of_unknown_length_says_so) {
  const auto header = wav_stream_header({24000, 2});
  EXPECT_EQ(header.size(), 44U);
  EXPECT_EQ(header.substr(4, 4), "\xff\xff\xff\xff");
  EXPECT_EQ(header.substr(40, 4), "\xff\xff\xff\xff");
}

TEST(wav, reads_what_it_wrote) {
  const std::vector<float> samples{0, 0.25F, -0.5F, 1, -1, 0.125F};
  const auto read = read_wav(exact_bytes(write_wav({16000, 2}, samples)), "x.wav");
  EXPECT_EQ(read.format.sample_rate, 16000);
  EXPECT_EQ(read.format.channels, 2);
  ASSERT_EQ(read.samples.size(), samples.size());
  for (std::size_t i = 0; i < samples.size(); ++i) EXPECT_NEAR(read.samples[i], samples[i], 2e-5);
}

TEST(wav, reads_a_stream_that_was_saved_as_it_came) {
  const std::vector<float> samples{0.5F, -0.5F, 0.25F};
  const auto read = read_wav(exact_bytes(wav_stream_header({8000, 1}) + to_s16le(samples)), "x.wav");
  EXPECT_EQ(read.samples.size(), 3U);
}

std::string wav_of(std::uint16_t format, std::uint16_t bits, std::uint16_t channels, const std::string& data,
                   const std::string& before = "") {
  file_builder out;
  out.raw("RIFF").number<std::uint32_t>(0).raw("WAVE").raw(before).raw("fmt ").number<std::uint32_t>(16);
  out.number(format).number(channels).number<std::uint32_t>(8000).number<std::uint32_t>(0).number<std::uint16_t>(0);
  out.number(bits).raw("data").number<std::uint32_t>(static_cast<std::uint32_t>(data.size())).raw(data);
  return out.text;
}

TEST(wav, reads_floats_and_skips_other_chunks) {
  const auto data = file_builder().number(0.5F).number(-0.25F).text;
  const auto other = file_builder().raw("LIST").number<std::uint32_t>(3).raw("abc").raw(std::string(1, '\0')).text;
  EXPECT_THAT(read_wav(exact_bytes(wav_of(3, 32, 1, data, other)), "x.wav").samples, ElementsAre(0.5F, -0.25F));
}

TEST(wav, refuses_what_it_cannot_read) {
  const auto refused = [](const std::string& bytes) {
    return refusal("x.wav", [&] { read_wav(exact_bytes(bytes), "x.wav"); });
  };
  refused("");
  refused("RIFF");
  refused("OggS............................................");
  EXPECT_THAT(refused(wav_of(1, 24, 1, "abc")), HasSubstr("24 bits"));
  EXPECT_THAT(refused(wav_of(6, 16, 1, "abcd")), HasSubstr("format 6"));
  EXPECT_THAT(refused(wav_of(1, 16, 0, "abcd")), HasSubstr("0 channels"));
  EXPECT_THAT(refused(std::string("RIFF0000WAVEdata\4\0\0\0abcd", 24)), HasSubstr("before their format"));
}

TEST(wav, never_reads_past_the_end_of_a_cut_file) {
  const auto whole = wav_of(1, 16, 2, "abcdefgh");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    try {
      EXPECT_LE(read_wav(exact_bytes(whole.substr(0, size)), "x.wav").samples.size(), 4U);
    } catch (const load_error&) {}
  }
}

} // namespace
} // namespace omni::audio
