#include "test/kernels/models/vits/tiny_voice_fixture.hpp"
#include "test/support/random_floats.hpp"

namespace omni::vits {
namespace {

using floats = std::vector<float>;
using test::graph_of;
using test::random_floats;
using test::random_pieces;

class streaming : public test::computing {};

floats decode_in_pieces(const hifigan& decoder, const floats& frames, const std::vector<std::int64_t>& pieces,
                        bool end_apart, const op_context& context) {
  const std::vector<float> no_bias;
  hifigan::stream stream(decoder, no_bias);
  floats samples;
  const float* next = frames.data();
  for (std::size_t i = 0; i < pieces.size(); ++i) {
    stream.decode(next, pieces[i], !end_apart && i + 1 == pieces.size(), samples, context);
    next += pieces[i] * decoder.frame_width();
  }
  if (end_apart) stream.decode(nullptr, 0, true, samples, context);
  return samples;
}

TEST_F(streaming, the_decoder_gives_the_same_bits_at_any_chunking) {
  for (const bool paired : {false, true}) {
    auto voice = test::named_voice();
    voice.paired_blocks = paired;
    const auto graph = graph_of(voice);
    const hifigan decoder(graph, 0);
    for (const std::int64_t count : {1, 2, 5, 17, 60}) {
      const auto frames = random_floats(count * decoder.frame_width(), static_cast<std::uint32_t>(count));
      const auto whole = decode_in_pieces(decoder, frames, {count}, false, context_);
      ASSERT_EQ(whole.size(), static_cast<std::size_t>(count * decoder.samples_per_frame()));
      for (std::uint32_t seed = 0; seed < 30; ++seed) {
        SCOPED_TRACE(std::to_string(count) + " frames, seed " + std::to_string(seed));
        const auto pieces = random_pieces(count, 1 + seed % 20, seed);
        EXPECT_EQ(decode_in_pieces(decoder, frames, pieces, seed % 2 == 0, context_), whole);
      }
    }
  }
}

TEST_F(streaming, the_decoder_gives_sound_before_the_sentence_ends) {
  const auto graph = graph_of(test::named_voice());
  const hifigan decoder(graph, 0);
  const std::vector<float> no_bias;
  hifigan::stream stream(decoder, no_bias);
  const auto frames = random_floats(60 * decoder.frame_width(), 1);
  floats samples;
  stream.decode(frames.data(), 60, false, samples, context_);
  EXPECT_GT(samples.size(), static_cast<std::size_t>(40 * decoder.samples_per_frame()));
  EXPECT_LT(samples.size(), static_cast<std::size_t>(60 * decoder.samples_per_frame()));
}

TEST_F(streaming, the_flow_gives_the_same_bits_at_any_chunking) {
  const auto graph = graph_of(test::named_voice());
  const latent_flow flow(graph, 16, 0);
  const std::vector<std::vector<float>> no_biases;
  for (const std::int64_t count : {1, 2, 9, 50}) {
    const auto prior = random_floats(count * 16, static_cast<std::uint32_t>(count));
    floats whole;
    latent_flow::stream(flow, no_biases).run(prior.data(), count, true, whole, context_);
    ASSERT_EQ(whole.size(), prior.size());
    for (std::uint32_t seed = 0; seed < 30; ++seed) {
      SCOPED_TRACE(std::to_string(count) + " frames, seed " + std::to_string(seed));
      latent_flow::stream stream(flow, no_biases);
      floats cut;
      const float* next = prior.data();
      for (const auto piece : random_pieces(count, 1 + seed % 20, seed)) {
        stream.run(next, piece, false, cut, context_);
        next += piece * 16;
      }
      stream.run(nullptr, 0, true, cut, context_);
      EXPECT_EQ(cut, whole);
    }
  }
}

/// The frames of a sentence, asked for `pieces` at a time.
floats frames_of(const talker_weights& talker, std::uint64_t seed, std::uint32_t number, std::int64_t piece,
                 const op_context& context) {
  const std::vector<std::int64_t> ids{1, 0, 12, 0, 15, 0, 3, 0, 20, 0, 31, 0, 9, 0, 2};
  const speech_style style{.noise_scale = 0.667F, .noise_w = 0.8F, .seed = seed};
  const std::vector<std::vector<float>> no_biases;
  utterance words(talker, style, ids, number, no_biases, context);
  floats frames;
  while (!words.next(piece, frames, context)) {}
  return frames;
}

class spoken_sentence : public test::computing {
protected:
  spoken_sentence()
      : talker_(voice_config::parse(test::tiny_voice().json(), "tiny.onnx.json"), graph_of(test::tiny_voice())) {}
  talker_weights talker_;
};

TEST_F(spoken_sentence, has_the_same_noise_at_any_chunking) {
  const auto whole = frames_of(talker_, 9, 0, 1000, context_);
  ASSERT_FALSE(whole.empty());
  for (const std::int64_t piece : {1, 2, 7, 30}) EXPECT_EQ(frames_of(talker_, 9, 0, piece, context_), whole);
}

TEST_F(spoken_sentence, has_the_same_noise_with_any_number_of_threads) {
  const test::compute_fixture alone(1);
  EXPECT_EQ(frames_of(talker_, 9, 0, 20, alone.context), frames_of(talker_, 9, 0, 20, context_));
}

TEST_F(spoken_sentence, has_another_noise_for_another_seed_or_place) {
  const auto first = frames_of(talker_, 9, 0, 1000, context_);
  EXPECT_NE(frames_of(talker_, 10, 0, 1000, context_), first);
  EXPECT_NE(frames_of(talker_, 9, 1, 1000, context_), first);
}

TEST_F(spoken_sentence, is_slower_with_a_larger_length_scale) {
  const std::vector<std::int64_t> ids{1, 0, 12, 0, 15, 0, 2};
  const std::vector<std::vector<float>> no_biases;
  const utterance normal(talker_, {.length_scale = 1.0F}, ids, 0, no_biases, context_);
  const utterance slow(talker_, {.length_scale = 3.0F}, ids, 0, no_biases, context_);
  EXPECT_GT(slow.frames(), 2 * normal.frames());
}

TEST_F(spoken_sentence, of_absurd_length_is_noticed) {
  const std::vector<std::int64_t> ids{1, 0, 12, 0, 2};
  const std::vector<std::vector<float>> no_biases;
  for (const float scale : {1e9F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()})
    EXPECT_TRUE(utterance(talker_, {.length_scale = scale}, ids, 0, no_biases, context_).too_long());
  EXPECT_FALSE(utterance(talker_, {.length_scale = 1}, ids, 0, no_biases, context_).too_long());
}

} // namespace
} // namespace omni::vits
