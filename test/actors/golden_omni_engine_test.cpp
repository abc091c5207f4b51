// Qwen3-Omni through the actors: whatever is batched, interrupted, doubled or remote, each case is answered as by the
// reference.
#include "actors/engine.hpp"
#include "actors/net/replica_process.hpp"
#include "kernels/models/qwen3_omni/talker_model.hpp"
#include "test/kernels/models/qwen3_omni/golden_thinker.hpp"
#include "test/support/engine_answers.hpp"
#include "test/support/recording_sink.hpp"

#include <future>

namespace omni::qwen3_omni {
namespace {

struct setting {
  std::string model = "model";
  std::string dtype = "auto";
  std::int32_t replicas = 1;
  std::int32_t tokens_a_step = 512;
  bool scarce = false; // caches that hold little more than one sequence
  std::int32_t max_num_seqs = 16;
  int copies = 1; // of each case
};

class golden_omni_engine : public ::testing::Test {
protected:
  void use(const setting& how) {
    how_ = how;
    cases_ = cases_of(how.model != "model");
    ASSERT_FALSE(cases_.empty());
    thinker_ = std::make_shared<golden_thinker>(how.model, how.dtype, cases_);
    config_ = load_config(checkpoint_folder(how.model));
    load_ = [this](const stage_model_spec& spec) -> std::shared_ptr<const stage_model> {
      return spec.stage == "thinker" ? thinker_ : load_stage_model(spec);
    };
  }

  [[nodiscard]] engine_config pipeline() const {
    engine_config made;
    for (const char* name : {"thinker", "talker", "code2wav"}) {
      auto& stage = made.stages.emplace_back();
      stage.id = {std::int32_t(made.stages.size()) - 1};
      stage.model_stage = name;
      stage.model = checkpoint_folder(how_.model).string();
      stage.dtype = how_.dtype;
      stage.num_replicas = how_.replicas;
      stage.max_num_batched_tokens = how_.tokens_a_step;
      stage.max_num_seqs = how_.max_num_seqs;
    }
    made.stages.front().final_output_type = modality::text;
    made.stages.back().final_output_type = modality::audio;
    if (how_.scarce) {
      made.stages[0].kv_cache_memory_bytes = scarce_bytes();
      made.stages[1].kv_cache_memory_bytes = scarce_talker_bytes();
    }
    made.threads = 2;
    return made;
  }

  /// A thinker's cache that just holds the longest sequence, so that several must give way to each other.
  [[nodiscard]] std::int64_t scarce_bytes() const {
    std::size_t longest = 0;
    for (const auto& one : cases_)
      longest = std::max(longest, one.i32("input_ids").size() + one.i32("generated.ids").size());
    thread_pool pool(1);
    const auto info = thinker_->make_runner({}, pool)->info();
    return info.block_bytes * std::int64_t(longest / std::size_t(info.block_size) + 2);
  }

  /// The same for the talker, whose rows are those of a case's prompt and frames at most.
  [[nodiscard]] std::int64_t scarce_talker_bytes() const {
    std::int64_t longest = 0;
    for (const auto& one : cases_)
      longest = std::max(longest, std::int64_t(one.i32("input_ids").size()) + one.extents("codes")[1] + 16);
    const auto [config, file] = open_model(how_.model);
    const talker_model talker(*config.talker, config.tokens, config.thinker.vocab, config.thinker.hidden, *file, false);
    return (longest / 16 + 1) * talker.decoder().cache_shape(16).block_bytes();
  }

  [[nodiscard]] request request_of(const golden_case& golden) const {
    request what;
    auto placed =
        thinker_->place_media(collapsed(golden.i32("input_ids"), config_.tokens), media_of(golden, config_.vision));
    what.prompt = std::move(placed.tokens);
    what.media = std::move(placed.media);
    what.sampling.temperature = 0;
    what.sampling.max_tokens = std::int32_t(golden.i32("generated.ids").size());
    const auto talker = talker_params(golden);
    what.stage_sampling = {std::nullopt, talker.sampling};
    what.voice = talker.voice;
    what.want_audio = true;
    return what;
  }

  /// All cases at once.
  void expect_reference(engine& running) {
    std::vector<std::shared_ptr<test::recording_sink>> heard;
    for (int copy = 0; copy < how_.copies; ++copy)
      for (const auto& golden : cases_) {
        const auto id =
            running.submit(request_of(golden), heard.emplace_back(std::make_shared<test::recording_sink>()));
        ASSERT_TRUE(id) << id.error().message;
      }
    for (std::size_t i = 0; i < heard.size(); ++i) {
      const auto& golden = cases_[i % cases_.size()];
      SCOPED_TRACE(golden.name());
      heard[i]->wait_for_end();
      ASSERT_FALSE(heard[i]->problem()) << heard[i]->problem()->message;
      EXPECT_EQ(heard[i]->tokens(), golden.i32("generated.ids"));
      const auto wav = golden.f32("wav"), sound = heard[i]->sound();
      ASSERT_EQ(sound.size(), wav.size());
      EXPECT_GE(test::signal_to_noise(sound.data(), wav.data(), static_cast<std::int64_t>(wav.size())), 90.0);
    }
  }

  static std::shared_ptr<test::recording_sink> answer(engine& running, const request& what) {
    auto heard = std::make_shared<test::recording_sink>();
    EXPECT_TRUE(running.submit(what, heard));
    heard->wait_for_end();
    return heard;
  }

  void answer_locally() {
    auto running = engine::start(pipeline(), load_);
    ASSERT_TRUE(running) << running.error().message;
    expect_reference(**running);
  }

  setting how_;
  std::vector<golden_case> cases_;
  std::shared_ptr<golden_thinker> thinker_;
  model_config config_;
  model_loader load_;
};

TEST_F(golden_omni_engine, answers_as_the_reference) {
  use({});
  answer_locally();
}

TEST_F(golden_omni_engine, in_f32_over_bf16_weights_answers_as_the_reference) {
  use({.model = "model_bf16", .dtype = "float32"});
  answer_locally();
}

TEST_F(golden_omni_engine, with_two_replicas_of_each_stage_answers_as_the_reference) {
  use({.replicas = 2, .copies = 2});
  answer_locally();
}

TEST_F(golden_omni_engine, with_prompts_in_pieces_and_a_scarce_cache_answers_as_the_reference) {
  use({.tokens_a_step = 19, .scarce = true, .copies = 2});
  answer_locally();
}

/// More replies at once than a step of the talker holds, and room for one: each must get its turn.
TEST_F(golden_omni_engine, with_more_voices_than_room_answers_as_the_reference) {
  use({.scarce = true, .max_num_seqs = 2, .copies = 3});
  answer_locally();
}

TEST_F(golden_omni_engine, with_each_stage_in_a_process_of_its_own_answers_as_the_reference) {
  use({.copies = 2});
  auto config = pipeline();
  for (auto& stage : config.stages) stage.num_replicas = 0;
  config.network.emplace();
  auto head = engine::start(config, load_);
  ASSERT_TRUE(head) << head.error().message;
  config.network->port = (*head)->join_port();
  std::vector<std::unique_ptr<replica_process>> stages;
  for (const auto& stage : config.stages) {
    replica_process_options how;
    how.stage = stage.id;
    how.head = *config.network;
    how.tell = [](const std::string&) {};
    how.ended = [](net::host_end, const std::string&) {};
    auto made = replica_process::start(config, std::move(how), load_);
    ASSERT_TRUE(made) << made.error().message;
    stages.push_back(std::move(*made));
  }
  expect_reference(**head);
}

TEST_F(golden_omni_engine, equal_words_with_other_media_share_no_cache) {
  use({});
  auto running = engine::start(pipeline(), load_);
  ASSERT_TRUE(running) << running.error().message;
  for (const auto& golden : cases_) {
    auto what = request_of(golden);
    what.want_audio = false;
    const auto sound =
        std::ranges::find_if(what.media, [](const auto& one) { return one.what->what == media_input::kind::audio; });
    if (sound == what.media.end()) continue;
    auto changed = what; // the same words, another sound
    auto medium = *sound->what;
    for (auto& sample : medium.samples) sample *= -0.5F;
    changed.media[std::size_t(sound - what.media.begin())].what =
        std::make_shared<const media_input>(std::move(medium));
    const auto first = answer(**running, what), other = answer(**running, changed), again = answer(**running, what);
    EXPECT_EQ(first->tokens(), golden.i32("generated.ids"));
    EXPECT_EQ(again->tokens(), first->tokens());
    EXPECT_LE(other->cached_tokens(), sound->begin / 16 * 16) << "blocks with the sound are not shared";
    EXPECT_EQ(again->cached_tokens(), (std::int64_t(what.prompt.size()) - 1) / 16 * 16) << "... but with itself";
    return;
  }
  FAIL() << "there is no case with a sound";
}

} // namespace
} // namespace omni::qwen3_omni
