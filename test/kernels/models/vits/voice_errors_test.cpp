#include "kernels/models/vits/voice.hpp"
#include "test/kernels/models/vits/tiny_voice_fixture.hpp"
#include "test/kernels/weights/file_builder.hpp"
#include "test/support/onnx_writer.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace omni::vits {
namespace {

using test::refusal;
using test::temporary_folder;
using test::tiny_voice;
using ::testing::HasSubstr;

/// What loading both halves of a voice says: the first complaint.
std::string refusal_of(const tiny_voice& voice) {
  const temporary_folder folder;
  const auto path = voice.write(folder.path());
  return refusal(path.string(), [&] {
    load_talker({.model = path, .stage = "talker"});
    load_code2wav({.model = path, .stage = "code2wav"});
  });
}

TEST(voice_file, loads_in_all_its_kinds) {
  for (const bool paired : {false, true})
    for (const bool plain : {false, true})
      for (const std::int64_t speakers : {1, 2}) {
        tiny_voice voice;
        voice.paired_blocks = paired;
        voice.plain_durations = plain;
        voice.speakers = speakers;
        const temporary_folder folder;
        const auto path = voice.write(folder.path());
        const auto talker = load_talker({.model = path, .stage = "talker"});
        const auto vocoder = load_code2wav({.model = path, .stage = "code2wav"});
        EXPECT_EQ(talker->fingerprint(), vocoder->fingerprint());
        EXPECT_EQ(talker->speakers().size(), speakers > 1 ? 2U : 0U);
      }
}

TEST(voice_file, other_weights_have_another_fingerprint) {
  tiny_voice voice;
  const temporary_folder folder;
  const auto first = load_talker({.model = voice.write(folder.path()), .stage = "talker"})->fingerprint();
  EXPECT_EQ(load_talker({.model = voice.write(folder.path()), .stage = "talker"})->fingerprint(), first);
  voice.paired_blocks = true;
  EXPECT_NE(load_talker({.model = voice.write(folder.path()), .stage = "talker"})->fingerprint(), first);
}

/// The names of all tensors of a voice whose names can be predicted.
std::vector<std::string> tensors_of(const tiny_voice& voice) { return test::parse_onnx(voice.onnx())->names(); }

TEST(voice_file, without_a_tensor_is_refused) {
  for (const bool paired : {false, true}) {
    auto voice = test::named_voice();
    voice.paired_blocks = paired;
    voice.speakers = 2;
    for (const auto& name : tensors_of(voice)) {
      // A bias may be absent in the format; then its node must not name it. Here it does, so that is an error as well.
      SCOPED_TRACE(name);
      auto damaged = voice;
      damaged.left_out = {name};
      refusal_of(damaged);
    }
  }
}

TEST(voice_file, with_a_tensor_of_the_wrong_shape_is_refused) {
  const std::vector<std::int64_t> no_values{5, 3, 0};
  const std::vector<std::int64_t> other_sizes{7, 2, 1};
  for (const bool plain : {false, true}) {
    auto voice = test::named_voice();
    voice.plain_durations = plain;
    voice.speakers = 2;
    for (const auto& name : tensors_of(voice)) {
      SCOPED_TRACE(name);
      auto damaged = voice;
      damaged.reshaped[name] = plain ? no_values : other_sizes;
      refusal_of(damaged);
    }
  }
}

TEST(voice_file, with_too_few_phonemes_or_speakers_in_its_tables_is_refused) {
  auto voice = test::named_voice();
  voice.speakers = 5;
  voice.reshaped["enc_p.emb.weight"] = {39, 16};
  EXPECT_THAT(refusal_of(voice), HasSubstr("39 rows"));
  voice.reshaped = {{"emb_g.weight", {4, 6}}};
  EXPECT_THAT(refusal_of(voice), HasSubstr("4 rows"));
}

TEST(voice_file, that_is_another_model_is_refused) {
  const temporary_folder folder;
  test::onnx_writer other;
  other.input("input");
  other.node("Relu", "relu", {"input"}, "output");
  other.output("output");
  const auto path = folder.write("tiny.onnx", other.text());
  folder.write("tiny.onnx.json", tiny_voice().json());
  refusal(path.string(), [&] { load_talker({.model = path, .stage = "talker"}); });
  refusal(path.string(), [&] { load_code2wav({.model = path, .stage = "code2wav"}); });
}

TEST(voice_file, without_its_json_is_refused) {
  const temporary_folder folder;
  const auto path = folder.write("tiny.onnx", tiny_voice().onnx());
  refusal("tiny.onnx.json", [&] { load_talker({.model = path, .stage = "talker"}); });
}

/// The JSON of a tiny voice, changed.
std::string refusal_of_json(const std::function<void(nlohmann::json&)>& change) {
  auto json = nlohmann::json::parse(tiny_voice().json());
  change(json);
  return refusal("tiny.onnx.json", [&] { voice_config::parse(json.dump(), "tiny.onnx.json"); });
}

TEST(voice_json, that_cannot_be_is_refused) {
  refusal("x.json", [] { voice_config::parse("[1, 2]", "x.json"); });
  refusal("x.json", [] { voice_config::parse("{\"audio\": ", "x.json"); });
  const std::vector<std::pair<std::string, std::function<void(nlohmann::json&)>>> cases = {
      {"sample_rate", [](auto& j) { j["audio"]["sample_rate"] = 5; }},
      {"sample_rate", [](auto& j) { j["audio"]["sample_rate"] = "fast"; }},
      {"audio", [](auto& j) { j.erase("audio"); }},
      {"phoneme_type", [](auto& j) { j["phoneme_type"] = "pinyin"; }},
      {"espeak", [](auto& j) { j["phoneme_type"] = "espeak"; }},
      {"phoneme_id_map", [](auto& j) { j.erase("phoneme_id_map"); }},
      {"phoneme_id_map", [](auto& j) { j["phoneme_id_map"].erase("_"); }},
      {"phoneme_id_map", [](auto& j) { j["phoneme_id_map"]["a"] = {40}; }},
      {"phoneme_id_map", [](auto& j) { j["phoneme_id_map"]["a"] = {-1}; }},
      {"phoneme_id_map", [](auto& j) { j["phoneme_id_map"]["a"] = "x"; }},
      {"phoneme_id_map", [](auto& j) { j["phoneme_id_map"]["a"] = std::vector<int>(9, 1); }},
      {"num_symbols", [](auto& j) { j["num_symbols"] = 1000000000; }},
      {"num_speakers", [](auto& j) { j["num_speakers"] = 0; }},
      {"speaker_id_map", [](auto& j) { j["speaker_id_map"]["anna"] = 1; }},
      {"default_speaker_id", [](auto& j) { j["default_speaker_id"] = 3; }},
      {"noise_scale", [](auto& j) { j["inference"]["noise_scale"] = -1; }},
      {"length_scale", [](auto& j) { j["inference"]["length_scale"] = 1e9; }},
  };
  for (const auto& [key, change] : cases) EXPECT_THAT(refusal_of_json(change), HasSubstr(key));
}

} // namespace
} // namespace omni::vits
