#include "app/openai/speech_bodies.hpp"

#include "test/app/support/sample_pipeline.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace omni::openai {
namespace {

using delivery = speech_request::delivery;

expected<speech_request> read(const std::string& fields) {
  return read_speech(json::parse("{" + fields + "}"), test::sample_pipeline());
}

std::shared_ptr<const speech_request> asked(const std::string& fields) {
  return std::make_shared<const speech_request>(*read(fields));
}

output sound_piece(const std::vector<float>& samples) {
  output piece;
  piece.kind = modality::audio;
  piece.audio = test::sound_of(samples);
  return piece;
}

struct bad_field {
  std::string fields;
  std::string param;
};

class bad_speech_field : public ::testing::TestWithParam<bad_field> {};

TEST_P(bad_speech_field, is_refused_by_name) {
  const auto got = read(GetParam().fields);
  ASSERT_FALSE(got) << GetParam().fields;
  EXPECT_EQ(got.error().code, errc::invalid_request);
  EXPECT_EQ(got.error().param, GetParam().param) << got.error().message;
}

INSTANTIATE_TEST_SUITE_P(all, bad_speech_field,
                         ::testing::ValuesIn(std::vector<bad_field>{
                             {R"("voice": "ann")", "input"},
                             {R"("input": 5)", "input"},
                             {R"("input": "")", "input"},
                             {R"("input": " \n\t ")", "input"},
                             {"\"input\": \"" + std::string(65'537, 'x') + "\"", "input"},
                             {R"("input": "x", "voice": "eve")", "voice"},
                             {R"("input": "x", "speaker": ["ann"])", "speaker"},
                             {R"("input": "x", "speed": 0.2)", "speed"},
                             {R"("input": "x", "response_format": "mp3")", "response_format"},
                             {R"("input": "x", "stream": "true")", "stream"},
                             {R"("input": "x", "stream_format": "raw")", "stream_format"},
                             {R"("input": "x", "seed": 1.5)", "seed"},
                             {R"("input": "x", "sample_rate": 44100)", "sample_rate"},
                             {R"("input": "x", "ref_audio": "data:")", "ref_audio"},
                             {R"("input": "x", "word_timestamps": true)", "word_timestamps"},
                         }));

TEST(speech_request, how_it_goes_out_follows_stream_and_stream_format) {
  EXPECT_EQ(read(R"("input": "x")")->how, delivery::whole);
  EXPECT_EQ(read(R"("input": "x", "stream": true)")->how, delivery::events);
  EXPECT_EQ(read(R"("input": "x", "stream_format": "sse")")->how, delivery::events);
  EXPECT_EQ(read(R"("input": "x", "stream_format": "audio")")->how, delivery::bytes);
  EXPECT_EQ(read(R"("input": "x", "stream": true, "stream_format": "audio")")->how, delivery::bytes);
}

TEST(speech_request, carries_the_text_and_the_voice) {
  const auto got = read(R"("input": "good day", "voice": "ANN", "speed": 1.5, "seed": 7, "sample_rate": 8000)");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->work.text, "good day");
  EXPECT_EQ(got->work.voice.speaker, "ann");
  EXPECT_FLOAT_EQ(got->work.voice.speed, 1.5F);
  EXPECT_EQ(got->work.voice.seed, 7U);
  EXPECT_FALSE(got->work.want_text);
  EXPECT_TRUE(got->work.want_audio);
  EXPECT_EQ(got->input_tokens, 8);
}

TEST(speech_request, a_pipeline_without_a_voice_says_so) {
  auto mute = test::sample_pipeline();
  mute->audio_output.reset();
  EXPECT_EQ(read_speech(json::parse(R"({"input": "x"})"), mute).error().param, "input");
}

TEST(speech_bodies, whole_wav_has_its_length_and_usage_headers) {
  whole_speech body(asked(R"("input": "ab")"));
  body.on_output(sound_piece(std::vector<float>(400, 0.5F)), 0);
  body.on_output(sound_piece(std::vector<float>(400, -0.5F)), 0);
  const http::response answer = body.whole();
  EXPECT_EQ(answer.content_type, "audio/wav");
  EXPECT_EQ(answer.body.size(), 44U + 1600U);
  EXPECT_EQ(answer.body.substr(0, 4), "RIFF");
  EXPECT_EQ(answer.body.substr(40, 4), std::string("\x40\x06\0\0", 4));
  std::string headers;
  for (const auto& each : answer.headers) headers += each.name + "=" + each.value + " ";
  EXPECT_EQ(headers,
            "X-Sample-Rate=8000 x-vllm-omni-input-tokens=2 x-vllm-omni-output-tokens=10 x-vllm-omni-total-tokens=12 "
            "x-vllm-omni-input-text-tokens=2 x-vllm-omni-input-audio-tokens=0 ");
}

TEST(speech_bodies, streamed_bytes_have_one_header) {
  speech_bytes body(asked(R"("input": "x", "stream_format": "audio")"));
  std::string out;
  body.on_output(sound_piece({0.5F}), 0, out);
  body.on_output(sound_piece({1.0F, -1.0F}), 0, out);
  body.on_end(out);
  EXPECT_EQ(out.size(), 44U + 6U);
  EXPECT_EQ(out.substr(40, 4), "\xff\xff\xff\xff");
  EXPECT_FALSE(body.on_failure({}, out));
}

TEST(speech_bodies, events_have_a_name_and_data) {
  speech_events body(asked(R"("input": "ab", "response_format": "pcm", "stream": true)"));
  std::string out;
  body.on_output(sound_piece({0.0F, 0.0F, 0.0F}), 0, out);
  EXPECT_EQ(out, "event: speech.audio.delta\n"
                 "data: {\"type\":\"speech.audio.delta\",\"audio\":\"AAAAAAAA\",\"response_format\":\"pcm\"}\n\n");
  out.clear();
  body.on_end(out);
  EXPECT_EQ(
      out, "event: speech.audio.done\n"
           "data: {\"type\":\"speech.audio.done\",\"usage\":{\"input_tokens\":2,\"output_tokens\":0,\"total_tokens\":2,"
           "\"input_token_details\":{\"text_tokens\":2,\"audio_tokens\":0}}}\n\n");
}

TEST(speech_bodies, a_failure_after_sound_says_what_to_do_with_it) {
  speech_events body(asked(R"("input": "ab", "stream": true)"));
  std::string out;
  body.on_output(sound_piece({0.0F}), 0, out);
  out.clear();
  EXPECT_TRUE(body.on_failure({errc::replica_lost, "The voice died.", ""}, out));
  EXPECT_EQ(out, "event: speech.audio.error\n"
                 "data: {\"type\":\"speech.audio.error\",\"error\":{\"message\":\"The voice "
                 "died.\",\"type\":\"server_error\",\"param\":null,"
                 "\"code\":503,\"partial_audio\":true,\"action\":\"discard\"}}\n\n");
}

} // namespace
} // namespace omni::openai
