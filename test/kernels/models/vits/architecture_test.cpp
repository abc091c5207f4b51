#include "test/kernels/models/vits/naive_vits.hpp"
#include "test/kernels/models/vits/tiny_voice_fixture.hpp"
#include "test/support/golden.hpp"
#include "test/support/random_floats.hpp"

namespace omni::vits {
namespace {

using floats = std::vector<float>;
using plane = test::naive_vits::plane;
using test::graph_of;
using test::named_voice;
using test::random_floats;

plane plane_of(const floats& rows, std::int64_t channels) {
  plane p(static_cast<std::size_t>(channels));
  for (std::size_t i = 0; i < rows.size(); ++i) p[i % p.size()].push_back(double{rows[i]});
  return p;
}

floats rows_of(const plane& p) {
  floats rows;
  for (std::size_t t = 0; t < p[0].size(); ++t)
    for (const auto& channel : p) rows.push_back(static_cast<float>(channel[t]));
  return rows;
}

void expect_close(const floats& got, const floats& want) {
  ASSERT_EQ(got.size(), want.size());
  EXPECT_LE(test::relative_max(got.data(), want.data(), static_cast<std::int64_t>(want.size())), 2e-5);
}

class architecture : public test::computing {};

/// What the voices differ in: the decoder's residual blocks and strides, and speakers.
struct kind {
  bool paired;
  std::int64_t speakers;
  std::vector<std::int64_t> strides;
};
const kind kinds[] = {{false, 1, {4, 3}}, {false, 3, {4, 3}}, {true, 1, {4, 2, 2}}, {true, 3, {4, 2, 2}}};

test::tiny_voice voice_of(const kind& k) {
  auto voice = named_voice();
  voice.paired_blocks = k.paired;
  voice.speakers = k.speakers;
  return voice;
}

TEST_F(architecture, the_decoder_equals_its_definition) {
  for (const auto& k : kinds) {
    SCOPED_TRACE(std::to_string(k.paired) + " " + std::to_string(k.speakers));
    const auto graph = graph_of(voice_of(k));
    const speaker_table speakers(graph, k.speakers);
    const hifigan decoder(graph, speakers.width());
    EXPECT_EQ(decoder.samples_per_frame(), k.paired ? 16 : 12);
    constexpr std::int64_t count = 23;
    const auto frames = random_floats(count * decoder.frame_width(), 5);
    const auto speaker = k.speakers - 1;
    const auto bias = decoder.speaker_bias(speakers.row(speaker));
    hifigan::stream stream(decoder, bias);
    floats samples;
    stream.decode(frames.data(), count, true, samples, context_);
    const auto want =
        test::naive_vits(graph.file()).decode(plane_of(frames, decoder.frame_width()), speaker, k.paired, k.strides);
    expect_close(samples, floats(want.begin(), want.end()));
  }
}

TEST_F(architecture, the_flow_equals_its_definition) {
  for (const std::int64_t count : {1, 3, 40}) {
    for (const std::int64_t speaker_count : {1, 3}) {
      auto voice = named_voice();
      voice.speakers = speaker_count;
      const auto graph = graph_of(voice);
      const speaker_table speakers(graph, speaker_count);
      const latent_flow flow(graph, voice.channels, speakers.width());
      const auto prior = random_floats(count * voice.channels, 6);
      const auto biases = flow.speaker_biases(speakers.row(speaker_count - 1));
      latent_flow::stream stream(flow, biases);
      floats frames;
      stream.run(prior.data(), count, true, frames, context_);
      expect_close(frames,
                   rows_of(test::naive_vits(graph.file()).flow(plane_of(prior, voice.channels), speaker_count - 1)));
    }
  }
}

TEST_F(architecture, plain_durations_equal_their_definition) {
  for (const std::int64_t speaker_count : {1, 3}) {
    auto voice = named_voice();
    voice.plain_durations = true;
    voice.speakers = speaker_count;
    const auto graph = graph_of(voice);
    const speaker_table speakers(graph, speaker_count);
    const auto predictor = duration_predictor::load(graph, voice.channels, speakers.width());
    constexpr std::int64_t count = 17;
    const auto hidden = random_floats(count * voice.channels, 7);
    floats logs(count);
    predictor->run({count, hidden.data(), nullptr}, speakers.row(speaker_count - 1),
                   noise(1, noise::purpose::durations, 0), 0.8F, logs, context_);
    expect_close(
        logs,
        rows_of(test::naive_vits(graph.file()).plain_durations(plane_of(hidden, voice.channels), speaker_count - 1)));
  }
}

/// All that a voice makes of some ids, with noise.
floats spoken(const voice_graph& graph, std::int64_t speakers, std::int64_t speaker, const op_context& context) {
  test::tiny_voice voice;
  voice.speakers = speakers;
  const talker_weights talker(voice_config::parse(voice.json(), "tiny.onnx.json"), graph);
  const hifigan decoder(graph, talker.speakers.width());
  const std::vector<std::int64_t> ids{1, 0, 12, 0, 15, 0, 3, 0, 20, 0, 2};
  const speech_style style{.speaker = speaker, .noise_scale = 0.667F, .noise_w = 0.8F, .seed = 3};
  const auto biases = talker.flow.speaker_biases(talker.speakers.row(speaker));
  utterance words(talker, style, ids, 0, biases, context);
  floats frames;
  while (!words.next(10, frames, context)) {}
  const auto bias = decoder.speaker_bias(talker.speakers.row(speaker));
  hifigan::stream stream(decoder, bias);
  floats samples;
  stream.decode(frames.data(), words.frames(), true, samples, context);
  return samples;
}

TEST_F(architecture, weights_are_found_whatever_the_exporter_called_them) {
  for (const bool paired : {false, true}) {
    auto named = named_voice();
    named.paired_blocks = paired;
    const auto want = spoken(graph_of(named), 1, 0, context_);
    auto exported = named;
    exported.anonymous_weights = exported.misnamed_embedding = true;
    EXPECT_EQ(spoken(graph_of(exported), 1, 0, context_), want);
    exported.folded_scale = false; // of the last duration flow
    EXPECT_EQ(spoken(graph_of(exported), 1, 0, context_), want);
  }
}

TEST_F(architecture, anonymous_weights_of_a_voice_with_speakers_are_found_too) {
  auto named = named_voice();
  named.speakers = 3;
  auto exported = named;
  exported.anonymous_weights = true;
  EXPECT_EQ(spoken(graph_of(exported), 3, 1, context_), spoken(graph_of(named), 3, 1, context_));
}

TEST_F(architecture, speakers_sound_different) {
  auto voice = named_voice();
  voice.speakers = 3;
  const auto graph = graph_of(voice);
  EXPECT_NE(spoken(graph, 3, 0, context_), spoken(graph, 3, 2, context_));
}

} // namespace
} // namespace omni::vits
