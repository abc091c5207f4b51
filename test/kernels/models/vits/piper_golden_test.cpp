#include "kernels/models/vits/hifigan.hpp"
#include "kernels/models/vits/talker.hpp"
#include "kernels/weights/convert.hpp"
#include "test/support/compute_fixture.hpp"
#include "test/support/default_models.hpp"
#include "test/support/golden.hpp"
#include "test/support/golden_case.hpp"

#include <gtest/gtest.h>
#include <map>
#include <string>
#include <vector>

namespace omni::vits {
namespace {

using floats = std::vector<float>;

/// The default voice, loaded once for all tests of this file.
struct loaded_voice {
  voice_config config;
  voice_graph graph;
  talker_weights talker;
  hifigan vocoder;

  loaded_voice()
      : config(voice_config::load(test::default_model("en_US-joe-medium.onnx.json"))),
        graph(onnx_file::open(test::default_model("en_US-joe-medium.onnx"))), talker(config, graph), vocoder(graph, 0) {
  }
};

class golden_piper : public ::testing::Test {
protected:
  static void SetUpTestSuite() { voice_ = std::make_unique<loaded_voice>(); }
  static void TearDownTestSuite() { voice_.reset(); }

  static std::unique_ptr<loaded_voice> voice_;
  const std::vector<std::vector<float>> no_biases_;
  const std::vector<float> no_bias_;
  test::compute_fixture on_;
  const op_context& context_ = on_.context;
};

std::unique_ptr<loaded_voice> golden_piper::voice_;

/// [channels, time] as rows of channels.
floats transposed(const floats& values, const shape& extents) {
  floats rows(values.size());
  const auto channels = extents[0];
  const auto time = extents[1];
  for (std::int64_t c = 0; c < channels; ++c)
    for (std::int64_t t = 0; t < time; ++t)
      rows[static_cast<std::size_t>(t * channels + c)] = values[static_cast<std::size_t>(c * time + t)];
  return rows;
}

floats rows_of(const test::golden_case& one, const std::string& name) {
  return transposed(one.f32(name), one.extents(name));
}

std::vector<std::int64_t> integers_of(const test::golden_case& one, const std::string& name) {
  const auto stored = one.tensors().find(name);
  floats values(static_cast<std::size_t>(stored->values()));
  read_f32(*stored, values);
  return {values.begin(), values.end()};
}

void expect_within(const floats& got, const floats& want, double bound, const char* what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  EXPECT_LE(test::relative_max(got.data(), want.data(), static_cast<std::int64_t>(want.size())), bound) << what;
}

void expect_noise_below(const floats& got, const floats& want, double decibels, const char* what) {
  ASSERT_EQ(got.size(), want.size()) << what;
  EXPECT_GE(test::signal_to_noise(got.data(), want.data(), static_cast<std::int64_t>(want.size())), decibels) << what;
}

speech_style style_of(const test::golden_case& one) {
  const auto& scales = one.json().at("scales");
  return {.length_scale = scales.at("length_scale"),
          .noise_scale = scales.at("noise_scale"),
          .noise_w = scales.at("noise_w")};
}

TEST_F(golden_piper, golden_text_encoder_and_durations) {
  for (const auto& one : test::golden_cases("piper-joe")) {
    SCOPED_TRACE(one.name());
    const auto ids = integers_of(one, "ids");
    {
      const workspace::scope scope(on_.scratch);
      const auto text = voice_->talker.encoder.run(ids, context_);
      const auto width = voice_->talker.encoder.width();
      expect_within(floats(text.hidden, text.hidden + text.symbols * width), rows_of(one, "enc_hidden"), 1e-3,
                    "enc_hidden");
    }
    const utterance spoken(voice_->talker, style_of(one), ids, 0, no_biases_, context_);
    EXPECT_EQ(spoken.durations(), integers_of(one, "durations"));
    EXPECT_EQ(spoken.frames(), one.json().at("frames"));
    const auto width = static_cast<std::size_t>(voice_->talker.encoder.latent_width());
    floats means;
    floats logs;
    for (std::size_t i = 0; i < spoken.prior().size(); i += 2 * width) {
      const auto row = spoken.prior().begin() + static_cast<std::ptrdiff_t>(i);
      means.insert(means.end(), row, row + static_cast<std::ptrdiff_t>(width));
      logs.insert(logs.end(), row + static_cast<std::ptrdiff_t>(width), row + static_cast<std::ptrdiff_t>(2 * width));
    }
    expect_within(means, rows_of(one, "m_p"), 1e-3, "m_p");
    expect_within(logs, rows_of(one, "logs_p"), 1e-3, "logs_p");
  }
}

TEST_F(golden_piper, golden_frames) {
  for (const auto& one : test::golden_cases("piper-joe")) {
    SCOPED_TRACE(one.name());
    utterance spoken(voice_->talker, style_of(one), integers_of(one, "ids"), 0, no_biases_, context_);
    floats frames;
    while (!spoken.next(50, frames, context_)) {}
    const auto want = rows_of(one, "decoder_in");
    expect_within(frames, want, 1e-3, "decoder_in");
    expect_noise_below(frames, want, 60, "decoder_in");
  }
}

TEST_F(golden_piper, golden_waveform) {
  for (const auto& one : test::golden_cases("piper-joe")) {
    SCOPED_TRACE(one.name());
    const auto frames = rows_of(one, "decoder_in");
    floats samples;
    hifigan::stream decoder(voice_->vocoder, no_bias_);
    decoder.decode(frames.data(), one.extents("decoder_in")[1], true, samples, context_);
    expect_noise_below(samples, one.f32("wav"), 60, "wav");
  }
}

TEST_F(golden_piper, golden_waveform_from_ids) {
  for (const auto& one : test::golden_cases("piper-joe")) {
    SCOPED_TRACE(one.name());
    utterance spoken(voice_->talker, style_of(one), integers_of(one, "ids"), 0, no_biases_, context_);
    hifigan::stream decoder(voice_->vocoder, no_bias_);
    floats samples;
    for (bool last = false; !last;) {
      floats frames;
      last = spoken.next(40, frames, context_);
      decoder.decode(frames.data(), static_cast<std::int64_t>(frames.size()) / voice_->vocoder.frame_width(), last,
                     samples, context_);
    }
    EXPECT_EQ(samples.size(), one.json().at("samples"));
    expect_noise_below(samples, one.f32("wav"), 60, "wav");
  }
}

TEST_F(golden_piper, golden_inner_features_of_the_decoder) {
  for (const auto& one : test::golden_cases("piper-joe")) {
    SCOPED_TRACE(one.name());
    const auto frames = rows_of(one, "decoder_in");
    std::map<std::string, floats> seen;
    hifigan::stream decoder(voice_->vocoder, no_bias_);
    decoder.observe([&](const std::string& name, const tensor& rows) {
      seen[name].insert(seen[name].end(), rows.f32(), rows.f32() + rows.values());
    });
    floats samples;
    decoder.decode(frames.data(), one.extents("decoder_in")[1], true, samples, context_);
    auto first = rows_of(one, "dec_conv_pre");
    for (auto& value : first) value = std::max(value, 0.1F * value); // only what the next layer reads is kept
    expect_within(seen.at("conv_pre"), first, 1e-3, "dec_conv_pre");
    for (auto& [name, rows] : seen) {
      if (!name.starts_with("up") || !one.has("dec_" + name)) continue;
      const auto want = rows_of(one, "dec_" + name); // its beginning
      ASSERT_GE(rows.size(), want.size());
      rows.resize(want.size());
      expect_within(rows, want, 1e-3, name.c_str());
    }
  }
}

/// The marks that shape a sentence, in order. Full stops aside: of abbreviations they are no marks for us.
std::u32string marks_of(std::u32string_view phonemes) {
  std::u32string marks;
  for (const char32_t c : phonemes)
    if (std::u32string_view(U"?!,:;").find(c) != std::u32string_view::npos) marks += c;
  return marks;
}

/// Versions of espeak-ng differ in single phonemes, so only what all of them keep is compared.
TEST_F(golden_piper, golden_phonemes_have_the_structure_of_the_text) {
  for (const auto& one : test::golden_cases("piper-joe")) {
    SCOPED_TRACE(one.name());
    std::u32string want;
    for (const std::string phoneme : one.json().at("phonemes")) want += text::decomposed(phoneme);
    std::u32string got;
    const auto sentences = voice_->talker.phonemizer->phonemes(one.json().at("text").get<std::string>());
    ASSERT_FALSE(sentences.empty());
    for (const auto& sentence : sentences) got += sentence;
    EXPECT_EQ(marks_of(got), marks_of(want));
    EXPECT_LE(std::count(got.begin(), got.end(), U'.'), std::count(want.begin(), want.end(), U'.'));
    for (const char32_t c : got) EXPECT_TRUE(voice_->config.ids.contains(std::u32string(1, c))) << std::uint32_t{c};
    const auto difference = static_cast<double>(got.size()) - static_cast<double>(want.size());
    EXPECT_LE(std::abs(difference), 2 + 0.2 * static_cast<double>(want.size()));
  }
}

} // namespace
} // namespace omni::vits
