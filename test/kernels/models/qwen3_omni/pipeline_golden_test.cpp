// The three stages as replicas run them: sounds and pictures and text in, text and sound out.
#include "kernels/core/error.hpp"
#include "kernels/models/qwen3_omni/audio_encoder.hpp"
#include "kernels/models/qwen3_omni/encoded_media.hpp"
#include "kernels/models/qwen3_omni/thinker.hpp"
#include "kernels/models/qwen3_omni/vision_encoder.hpp"
#include "kernels/runtime/ar_runner.hpp"
#include "test/kernels/models/qwen3_omni/golden_thinker.hpp"
#include "test/kernels/models/qwen3_omni/omni_case.hpp"
#include "test/kernels/models/qwen3_omni/raw_media.hpp"
#include "test/kernels/models/qwen3_omni/stage_player.hpp"
#include "test/kernels/runtime/ar_session.hpp"
#include "test/support/compute_fixture.hpp"

namespace omni::qwen3_omni {
namespace {

struct stages {
  std::shared_ptr<const stage_model> thinker, talker, code2wav;
  model_config config;

  std::string model, dtype_name;

  explicit stages(std::string of_model = "model", std::string in_dtype = "auto")
      : config(load_config(checkpoint_folder(of_model))), model(std::move(of_model)), dtype_name(std::move(in_dtype)) {
    const auto load = [&](const std::string& stage) {
      return load_stage_model({checkpoint_folder(model), stage, dtype_name});
    };
    thinker = load("thinker");
    talker = load("talker");
    code2wav = load("code2wav");
  }
};

std::vector<golden_case> f32_cases() { return cases_of(false); }

sequence_params thinker_params(const golden_case& golden, const stages& on, const stage_model& thinker) {
  sequence_params params;
  params.sampling.temperature = 0.0F;
  params.media = media_of(golden, on.config.vision);
  params.prompt = thinker.place_media(collapsed(golden.i32("input_ids"), on.config.tokens), params.media).tokens;
  params.hand_on = true;
  return params;
}

/// One case on its way through the stages; the case's index is its slot everywhere.
struct journey {
  golden_case golden;
  std::size_t prompt_tokens = 0;
  bool thought = false;   // the thinker is done with it
  std::size_t frames = 0; // handed from the talker to code2wav
  bool spoken = false;

  [[nodiscard]] std::size_t wanted() const { return golden.i32("generated.ids").size(); }
};

/// Runs cases together, tokens and frames being handed on as soon as they are there.
class pipeline {
public:
  pipeline(const stages& on, const std::vector<golden_case>& cases, std::size_t tokens_a_step)
      : on_(on), tokens_a_step_(tokens_a_step), pool_(2),
        thinker_model_(std::make_shared<golden_thinker>(on.model, on.dtype_name, cases)), thinker_(*thinker_model_),
        talker_runner_(on.talker->make_runner({}, pool_)), code2wav_runner_(on.code2wav->make_runner({}, pool_)),
        talker_(*talker_runner_), code2wav_(*code2wav_runner_) {
    for (const auto& golden : cases) {
      const auto slot = static_cast<sequence_slot>(journeys_.size());
      const auto params = thinker_params(golden, on, *thinker_model_);
      EXPECT_EQ(params.prompt, golden.i32("input_ids"));
      thinker_.open(slot, params);
      talker_.open(slot, talker_params(golden));
      code2wav_.open(slot, talker_params(golden));
      journeys_.push_back({golden, params.prompt.size()});
    }
  }

  /// `interrupt_at`: before so many steps of the thinker, its sequences lose their blocks; 0: never.
  void run(int interrupt_at = 0) {
    for (int step = 1; think(); ++step) {
      if (step == interrupt_at)
        for (std::size_t i = 0; i < journeys_.size(); ++i)
          if (!journeys_[i].thought) thinker_.interrupt(static_cast<sequence_slot>(i));
      speak();
    }
    while (speak()) {}
  }

  void expect_reference() const {
    for (std::size_t i = 0; i < journeys_.size(); ++i) {
      const auto& one = journeys_[i];
      const auto slot = static_cast<sequence_slot>(i);
      SCOPED_TRACE(one.golden.name());
      const auto& tokens = thinker_.tokens(slot);
      EXPECT_EQ(ids(tokens.begin() + static_cast<std::ptrdiff_t>(one.prompt_tokens), tokens.end()),
                one.golden.i32("generated.ids"));
      const auto extents = one.golden.extents("codes");
      const auto codes = one.golden.i32("codes"), made = talker_.codes_of(slot);
      ASSERT_EQ(made.size(), codes.size());
      for (std::int64_t q = 0; q < extents[0]; ++q)
        for (std::int64_t t = 0; t < extents[1]; ++t)
          EXPECT_EQ(made[static_cast<std::size_t>(t * extents[0] + q)],
                    codes[static_cast<std::size_t>(q * extents[1] + t)]);
      const auto wav = one.golden.f32("wav"), sound = code2wav_.floats_of(slot);
      ASSERT_EQ(sound.size(), wav.size());
      EXPECT_GE(test::signal_to_noise(sound.data(), wav.data(), static_cast<std::int64_t>(wav.size())), 90.0);
    }
  }

private:
  bool think() {
    std::vector<sequence_slot> slots;
    for (std::size_t i = 0; i < journeys_.size(); ++i)
      if (!journeys_[i].thought) slots.push_back(static_cast<sequence_slot>(i));
    if (slots.empty()) return false;
    const auto result = thinker_.step(slots, tokens_a_step_);
    for (std::size_t i = 0; i < slots.size(); ++i) {
      EXPECT_EQ(result.items[i].input_problem, "");
      for (const auto& out : result.items[i].outputs) talker_.give(slots[i], out);
      auto& one = journeys_[static_cast<std::size_t>(slots[i])];
      one.thought = thinker_.tokens(slots[i]).size() - one.prompt_tokens == one.wanted();
      if (one.thought) talker_.give_end(slots[i]);
    }
    return true;
  }

  bool speak() {
    std::vector<sequence_slot> slots(journeys_.size());
    std::iota(slots.begin(), slots.end(), 0);
    const bool spoke = talker_.step(slots);
    for (const auto slot : slots) {
      auto& one = journeys_[static_cast<std::size_t>(slot)];
      for (; one.frames < talker_.outputs(slot).size(); ++one.frames)
        code2wav_.give(slot, talker_.outputs(slot)[one.frames]);
      if (talker_.finished(slot) && !one.spoken) {
        code2wav_.give_end(slot);
        one.spoken = true;
      }
    }
    return code2wav_.step(slots) || spoke;
  }

  const stages& on_;
  std::size_t tokens_a_step_;
  thread_pool pool_;
  std::shared_ptr<const golden_thinker> thinker_model_;
  test::ar_session thinker_;
  std::unique_ptr<runner> talker_runner_, code2wav_runner_;
  test::stage_player talker_, code2wav_;
  std::vector<journey> journeys_;
};

TEST(golden_pipeline, answers_each_case_as_the_reference) {
  const stages on;
  for (const auto& golden : f32_cases()) {
    pipeline alone(on, {golden}, 1000);
    alone.run();
    alone.expect_reference();
  }
}

TEST(golden_pipeline, in_f32_over_bf16_weights_answers_as_the_reference) {
  const stages on("model_bf16", "float32");
  const auto cases = cases_of(true);
  ASSERT_FALSE(cases.empty());
  pipeline together(on, cases, 1000);
  together.run();
  together.expect_reference();
}

TEST(golden_pipeline, answers_all_cases_at_once_as_the_reference) {
  const stages on;
  const auto cases = f32_cases();
  pipeline together(on, cases, 11); // prompts in pieces, across sounds and pictures
  together.run();
  together.expect_reference();
}

TEST(golden_pipeline, goes_on_after_sequences_lost_their_blocks) {
  const stages on;
  const auto cases = f32_cases();
  for (const int step : {1, 4, 9}) {
    pipeline together(on, cases, 16);
    together.run(step);
    together.expect_reference();
  }
}

TEST(golden_pipeline, sees_and_hears_what_came_with_the_request) {
  const stages on;
  test::compute_fixture with;
  const auto [config, file] = open_model();
  const audio_encoder sounds(config.audio, *file, false);
  const vision_encoder pictures(config.vision, *file, false);
  for (const auto& golden : f32_cases()) {
    const auto params = thinker_params(golden, on, *on.thinker);
    if (params.media.empty()) continue;
    SCOPED_TRACE(golden.name());
    floats expected; // embeddings, in the order of the prompt
    const auto hidden = static_cast<std::ptrdiff_t>(config.thinker.hidden);
    const auto add = [&](const floats& rows, std::size_t parts) {
      for (auto row = rows.begin(); row < rows.end(); row += static_cast<std::ptrdiff_t>(parts) * hidden)
        expected.insert(expected.end(), row, row + hidden);
    };
    for (const auto& media : params.media) {
      const pixel_size size{media->height, media->width};
      if (media->what == media_input::kind::audio)
        add(sounds.encode(sounds.features(media->samples), true, nullptr, with.context), 1);
      else
        add(pictures.encode(patches_of(media->rgb, media->frames, size, config.vision), extent_of(*media, config).grid,
                            nullptr, with.context),
            1 + config.vision.deepstack.size());
    }
    thread_pool pool(2);
    const auto runner = on.thinker->make_runner({}, pool);
    floats embeddings;
    dynamic_cast<ar_runner&>(*runner).observe([&](const std::string& name, const tensor& t) {
      if (name == "embeddings") embeddings.assign(t.f32(), t.f32() + t.values());
    });
    runner->open(0, params);
    std::vector<std::int32_t> blocks(params.prompt.size() / 16 + 1);
    std::iota(blocks.begin(), blocks.end(), 0);
    batch work;
    work.items.push_back({});
    work.items.front().tokens = params.prompt;
    work.items.front().block_table = blocks;
    EXPECT_EQ(runner->execute(work).items.front().input_problem, "");
    floats found;
    for (std::size_t i = 0; i < params.prompt.size(); ++i)
      if (config.tokens.is_media(params.prompt[i]))
        found.insert(found.end(), embeddings.begin() + static_cast<std::ptrdiff_t>(i) * hidden,
                     embeddings.begin() + static_cast<std::ptrdiff_t>(i + 1) * hidden);
    EXPECT_EQ(found, expected);
  }
}

TEST(golden_pipeline, stages_fit_each_other) {
  const stages on;
  EXPECT_EQ(on.talker->ports().reads, on.thinker->ports().hands_on);
  EXPECT_EQ(on.code2wav->ports().reads, on.talker->ports().hands_on);
  EXPECT_EQ(on.code2wav->ports().answers, payload::kind::samples);
  EXPECT_NE(on.thinker->tokenizer(), nullptr);
  EXPECT_NE(on.thinker->chat_template(), nullptr);
  EXPECT_EQ(on.thinker->fingerprint(), on.talker->fingerprint());
}

TEST(golden_pipeline, hands_nothing_on_if_nobody_wants_it) {
  const stages on;
  const auto cases = f32_cases();
  auto params = thinker_params(cases.front(), on, *on.thinker);
  params.hand_on = false;
  test::ar_session thinker(*on.thinker);
  thinker.open(0, params);
  for (int i = 0; i < 4; ++i) EXPECT_TRUE(thinker.step({0}).items.front().outputs.empty());
}

TEST(golden_pipeline, refuses_media_that_its_prompt_has_no_place_for) {
  const stages on;
  for (const auto& golden : test::golden_cases("qwen3_omni", "e2e_audio")) {
    auto params = thinker_params(golden, on, *on.thinker);
    params.media.clear();
    test::ar_session thinker(*on.thinker);
    EXPECT_THROW(thinker.open(0, params), input_error);
  }
}

TEST(golden_text_models, take_no_media) {
  for (const auto& folder : test::golden_folders("text")) {
    if (!std::filesystem::exists(folder / "model")) continue;
    const auto model = load_stage_model({folder / "model", "thinker", "auto"});
    const media_list media{std::make_shared<const media_input>()};
    EXPECT_THROW((void)model->place_media({1, 2}, media), input_error);
    EXPECT_EQ(model->place_media({1, 2}, {}).tokens, (ids{1, 2}));
    return;
  }
  FAIL() << "there is no text model";
}

} // namespace
} // namespace omni::qwen3_omni
