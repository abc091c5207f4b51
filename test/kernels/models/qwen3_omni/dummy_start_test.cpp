// The three stages of Qwen3-Omni from a config.json alone.
#include "kernels/models/stage_model.hpp"
#include "kernels/text/chat_template.hpp"
#include "kernels/text/tokenizer.hpp"
#include "test/kernels/models/qwen3_omni/stage_player.hpp"
#include "test/kernels/runtime/ar_session.hpp"
#include "test/kernels/weights/file_builder.hpp"
#include "test/support/qwen3_omni_config.hpp"

#include <cmath>

namespace omni::qwen3_omni {
namespace {

using ids = std::vector<std::int32_t>;

/// A folder with a config.json and nothing else.
class dummy_omni {
public:
  dummy_omni() { test::write_config(folder_.path(), config_); }

  [[nodiscard]] std::shared_ptr<const stage_model> load(const std::string& stage) const {
    return load_stage_model({folder_.path(), stage, "auto", "dummy"});
  }
  /// A special token of config.json.
  [[nodiscard]] std::int32_t id(const std::string& path) const {
    return config_.at(nlohmann::json::json_pointer(path)).get<std::int32_t>();
  }

private:
  test::temporary_folder folder_;
  nlohmann::json config_ = test::tiny_qwen3_omni_config();
};

ids prompt_of(const stage_model& thinker, const nlohmann::ordered_json& content) {
  return thinker.tokenizer()->encode(thinker.chat_template()->render(
      {{"messages", {{{"role", "user"}, {"content", content}}}}, {"add_generation_prompt", true}}));
}

sequence_params greedy(ids prompt) {
  sequence_params params;
  params.sampling.temperature = 0.0F;
  params.prompt = std::move(prompt);
  return params;
}

TEST(dummy_start, a_turn_begins_with_three_tokens) {
  const dummy_omni omni;
  const auto prompt = prompt_of(*omni.load("thinker"), "hi");
  const std::int32_t start = omni.id("/im_start_token_id"), newline = prompt[2];
  EXPECT_EQ(ids(prompt.begin(), prompt.begin() + 3), (ids{start, omni.id("/user_token_id"), newline}));
  EXPECT_EQ(ids(prompt.end() - 3, prompt.end()), (ids{start, omni.id("/assistant_token_id"), newline}));
}

TEST(dummy_start, media_have_places_in_the_prompt) {
  const dummy_omni omni;
  const auto thinker = omni.load("thinker");
  const auto prompt = prompt_of(*thinker, {{{"type", "audio"}}, {{"type", "text"}, {"text", "what?"}}});
  EXPECT_EQ(std::count(prompt.begin(), prompt.end(), omni.id("/thinker_config/audio_token_id")), 1);
  auto sound = std::make_shared<media_input>();
  sound->what = media_input::kind::audio;
  sound->samples.assign(16000, 0.25F);
  const auto placed = thinker->place_media(prompt, {sound});
  EXPECT_EQ(placed.tokens.size(), prompt.size() + 12) << "a second makes 13 rows";

  test::ar_session session(*thinker);
  auto params = greedy(placed.tokens);
  params.media = {sound};
  session.open(0, params);
  EXPECT_EQ(session.step({0}).items.front().input_problem, "");
}

TEST(dummy_start, text_becomes_sound) {
  const dummy_omni omni;
  const auto thinker = omni.load("thinker"), talker = omni.load("talker"), code2wav = omni.load("code2wav");
  test::ar_session thinking(*thinker);
  auto params = greedy(prompt_of(*thinker, "hello"));
  params.hand_on = true;
  thinking.open(0, params);
  thread_pool pool(2);
  const auto speech = talker->make_runner({}, pool), sound = code2wav->make_runner({}, pool);
  test::stage_player talking(*speech), playing(*sound);
  auto spoken = greedy({});
  spoken.sampling.max_tokens = 6;
  talking.open(0, spoken);
  playing.open(0, spoken);
  for (int token = 0; token < 4; ++token) {
    const auto made = thinking.step({0});
    for (const auto& out : made.items.front().outputs) talking.give(0, out);
  }
  talking.give_end(0);
  while (!talking.finished(0)) ASSERT_TRUE(talking.step({0}));
  ASSERT_FALSE(talking.outputs(0).empty());
  for (const auto& frame : talking.outputs(0)) playing.give(0, frame);
  playing.give_end(0);
  while (!playing.finished(0)) ASSERT_TRUE(playing.step({0}));
  const auto samples = playing.floats_of(0);
  ASSERT_FALSE(samples.empty());
  for (const float s : samples) ASSERT_TRUE(std::isfinite(s));
}

TEST(dummy_start, fingerprints_of_stages_differ_and_are_the_same_each_time) {
  const dummy_omni omni, same;
  std::vector<std::uint64_t> prints;
  for (const std::string stage : {"thinker", "talker", "code2wav"}) {
    prints.push_back(omni.load(stage)->fingerprint());
    EXPECT_EQ(prints.back(), same.load(stage)->fingerprint());
  }
  std::sort(prints.begin(), prints.end());
  EXPECT_EQ(std::unique(prints.begin(), prints.end()), prints.end());
}

} // namespace
} // namespace omni::qwen3_omni
