#include "kernels/models/vits/voice.hpp"

#include "kernels/core/error.hpp"
#include "kernels/models/vits/code2wav.hpp"
#include "test/kernels/models/vits/tiny_voice_fixture.hpp"
#include "test/kernels/weights/file_builder.hpp"

#include <cstring>
#include <nlohmann/json.hpp>

namespace omni::vits {
namespace {

using floats = std::vector<float>;
using payloads = std::vector<std::shared_ptr<const payload>>;

std::shared_ptr<const payload> text_payload(std::string text) {
  auto piece = std::make_shared<payload>();
  piece->text = std::move(text);
  return piece;
}

/// Feeds one item and returns the answer.
item_result step(runner& stage, sequence_slot slot, std::shared_ptr<const payload> input, bool end) {
  batch work;
  batch_item item;
  item.slot = slot;
  item.input = std::move(input);
  item.end_of_input = end;
  work.items.push_back(item);
  return stage.execute(work).items.at(0);
}

/// Runs a sequence over all of `inputs` and returns its outputs, in order.
payloads outputs_of(runner& stage, sequence_slot slot, const payloads& inputs) {
  payloads outputs;
  bool finished = false;
  const auto take = [&](const item_result& result) {
    EXPECT_EQ(result.input_problem, "");
    outputs.insert(outputs.end(), result.outputs.begin(), result.outputs.end());
    finished = result.finished;
    return result.input_used_up;
  };
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const bool end = i + 1 == inputs.size();
    if (take(step(stage, slot, inputs[i], end))) continue;
    while (!take(step(stage, slot, nullptr, end))) {}
  }
  EXPECT_TRUE(finished);
  return outputs;
}

floats joined(const payloads& pieces) {
  floats all;
  for (const auto& piece : pieces) all.insert(all.end(), piece->f32(), piece->f32() + piece->rows * piece->width);
  return all;
}

class stages : public ::testing::Test {
protected:
  explicit stages(std::int64_t speakers = 1) : pool_(2) {
    test::tiny_voice voice;
    voice.speakers = speakers;
    path_ = voice.write(folder_.path());
    talker_model_ = load_talker({.model = path_, .stage = "talker"});
    code2wav_model_ = load_code2wav({.model = path_, .stage = "code2wav"});
    talker_ = talker_model_->make_runner({}, pool_);
    code2wav_ = code2wav_model_->make_runner({}, pool_);
  }

  static sequence_params seeded(std::uint64_t seed) {
    sequence_params params;
    params.voice.seed = seed;
    return params;
  }

  /// Frames of a text that comes in the given pieces.
  payloads frames_of(const std::vector<std::string>& pieces, const sequence_params& params) {
    payloads inputs;
    for (const auto& piece : pieces) inputs.push_back(text_payload(piece));
    talker_->open(0, params);
    auto frames = outputs_of(*talker_, 0, inputs);
    talker_->close(0);
    return frames;
  }
  payloads samples_of(const payloads& frames) {
    code2wav_->open(0, {});
    auto samples = outputs_of(*code2wav_, 0, frames);
    code2wav_->close(0);
    return samples;
  }

  test::temporary_folder folder_;
  std::filesystem::path path_;
  thread_pool pool_;
  std::shared_ptr<const stage_model> talker_model_;
  std::shared_ptr<const stage_model> code2wav_model_;
  std::unique_ptr<runner> talker_;
  std::unique_ptr<runner> code2wav_;
};

const std::string text = "the rain in spain falls mainly on the plain. is that so? yes, it is so; so they say!";

TEST_F(stages, say_what_they_make) {
  EXPECT_EQ(talker_->info().sample_rate, 8000);
  EXPECT_DOUBLE_EQ(talker_->info().rows_per_second, 8000.0 / 12);
  EXPECT_EQ(code2wav_->info().sample_rate, 8000);
}

TEST_F(stages, make_each_sentence_a_segment_with_a_pause_before_the_next) {
  const auto frames = frames_of({text}, seeded(1));
  int sentences = 0;
  int pauses = 0;
  bool inside = false;
  for (const auto& piece : frames) {
    EXPECT_EQ(piece->what, payload::kind::rows);
    EXPECT_EQ(piece->width, 16);
    if (piece->rows == 0) {
      EXPECT_TRUE(piece->ends_segment);
      EXPECT_FALSE(inside);
      ++pauses;
      continue;
    }
    inside = !piece->ends_segment;
    sentences += piece->ends_segment ? 1 : 0;
  }
  EXPECT_FALSE(inside);
  EXPECT_EQ(sentences, 3);
  EXPECT_EQ(pauses, 2);
}

TEST_F(stages, hand_on_the_same_frames_however_the_text_comes) {
  const auto whole = joined(frames_of({text}, seeded(1)));
  ASSERT_FALSE(whole.empty());
  for (std::uint32_t seed = 0; seed < 20; ++seed) {
    std::vector<std::string> pieces;
    std::size_t at = 0;
    for (const auto size : test::random_pieces(static_cast<std::int64_t>(text.size()), 1 + seed, seed)) {
      pieces.push_back(text.substr(at, static_cast<std::size_t>(size)));
      at += static_cast<std::size_t>(size);
    }
    EXPECT_EQ(joined(frames_of(pieces, seeded(1))), whole) << seed;
  }
}

TEST_F(stages, begin_to_speak_before_the_text_ends) {
  talker_->open(0, seeded(1));
  const auto result = step(*talker_, 0, text_payload("the rain in spain falls mainly, and so"), false);
  EXPECT_FALSE(result.outputs.empty());
  EXPECT_FALSE(result.finished);
  talker_->close(0);
}

TEST_F(stages, wait_for_a_whole_sentence_or_clause) {
  talker_->open(0, seeded(1));
  auto result = step(*talker_, 0, text_payload("the rain in"), false);
  EXPECT_TRUE(result.outputs.empty());
  EXPECT_TRUE(result.input_used_up);
  EXPECT_FALSE(result.finished);
  result = step(*talker_, 0, nullptr, true);
  EXPECT_FALSE(result.outputs.empty());
  talker_->close(0);
}

TEST_F(stages, make_the_same_samples_however_frames_come) {
  const auto frames = frames_of({text}, seeded(1));
  const auto whole = joined(samples_of(frames));
  ASSERT_FALSE(whole.empty());
  for (std::uint32_t seed = 0; seed < 10; ++seed) {
    payloads cut;
    for (const auto& piece : frames) {
      if (piece->rows == 0) {
        cut.push_back(piece);
        continue;
      }
      std::int64_t row = 0;
      for (const auto size : test::random_pieces(piece->rows, 1 + 3 * seed, seed)) {
        auto part = std::make_shared<payload>(*piece);
        part->rows = size;
        const auto* first = piece->bytes.data() + row * piece->width * 4;
        part->bytes.assign(first, first + size * piece->width * 4);
        row += size;
        part->ends_segment = piece->ends_segment && row == piece->rows;
        if (size > 0) cut.push_back(part); // without rows it would be a pause
      }
    }
    EXPECT_EQ(joined(samples_of(cut)), whole) << seed;
  }
}

TEST_F(stages, keep_silence_between_sentences) {
  const auto frames = frames_of({"one. two."}, seeded(1));
  std::int64_t rows = 0;
  for (const auto& piece : frames) rows += piece->rows;
  const auto samples = joined(samples_of(frames));
  const auto pause = static_cast<std::size_t>(code2wav::pause_seconds * 8000);
  EXPECT_EQ(samples.size(), static_cast<std::size_t>(rows * 12) + pause);
  std::size_t longest = 0;
  std::size_t zeros = 0;
  for (const float sample : samples) longest = std::max(longest, zeros = sample == 0 ? zeros + 1 : 0);
  EXPECT_EQ(longest, pause);
}

TEST_F(stages, bound_the_work_of_a_step) {
  const auto frames = frames_of({text}, seeded(1));
  for (const auto& piece : frames) EXPECT_LE(piece->rows, 300);
  for (const auto& piece : samples_of(frames)) {
    EXPECT_LE(piece->rows, 80 * 12 + 1600);
    EXPECT_EQ(piece->what, payload::kind::samples);
    EXPECT_EQ(piece->width, 1);
    EXPECT_EQ(piece->sample_rate, 8000);
  }
}

TEST_F(stages, flush_a_sentence_that_the_input_ends_within) {
  const auto frames = frames_of({"one two three"}, seeded(1));
  const auto whole = joined(samples_of(frames));
  payloads open_end;
  for (const auto& piece : frames) {
    auto copy = std::make_shared<payload>(*piece);
    copy->ends_segment = false;
    open_end.push_back(copy);
  }
  EXPECT_EQ(joined(samples_of(open_end)), whole);
}

TEST_F(stages, end_without_sound_when_there_is_nothing_to_say) {
  for (const char* silent : {"", "   ", "...", "```\ncode\n```", "🎉🎉", "---\n***"}) {
    SCOPED_TRACE(silent);
    EXPECT_TRUE(frames_of({silent}, seeded(1)).empty());
  }
  code2wav_->open(0, {});
  const auto result = step(*code2wav_, 0, nullptr, true);
  EXPECT_TRUE(result.finished);
  EXPECT_TRUE(result.outputs.empty());
  code2wav_->close(0);
}

TEST_F(stages, take_invalid_utf8_and_control_characters) {
  EXPECT_FALSE(frames_of({"ab\xff\xfe", "\xc3", "\x28 word\x01\x02", std::string("\0x", 2)}, seeded(1)).empty());
}

TEST_F(stages, run_sequences_side_by_side_without_mixing_them) {
  const auto first = joined(frames_of({"one sentence here."}, seeded(1)));
  const auto second = joined(frames_of({"another one there."}, seeded(2)));
  talker_->open(4, seeded(1));
  talker_->open(7, seeded(2));
  batch work;
  for (const auto& [slot, words] : {std::pair{4, "one sentence here."}, std::pair{7, "another one there."}}) {
    batch_item item;
    item.slot = slot;
    item.input = text_payload(words);
    item.end_of_input = true;
    work.items.push_back(item);
  }
  payloads got[2];
  bool done[2] = {};
  while (!done[0] || !done[1]) {
    const auto result = talker_->execute(work);
    for (std::size_t i = 0; i < 2; ++i) {
      got[i].insert(got[i].end(), result.items[i].outputs.begin(), result.items[i].outputs.end());
      done[i] = result.items[i].finished;
      work.items[i].input = nullptr;
    }
  }
  EXPECT_EQ(joined(got[0]), first);
  EXPECT_EQ(joined(got[1]), second);
}

TEST_F(stages, sound_different_for_another_seed_and_the_same_for_the_same) {
  const auto first = joined(frames_of({text}, seeded(1)));
  EXPECT_EQ(joined(frames_of({text}, seeded(1))), first);
  EXPECT_NE(joined(frames_of({text}, seeded(2))), first);
}

TEST_F(stages, speak_slower_at_a_lower_speed) {
  auto slow = seeded(1);
  slow.voice.speed = 0.25F;
  EXPECT_GT(joined(frames_of({text}, slow)).size(), 2 * joined(frames_of({text}, seeded(1))).size());
}

TEST_F(stages, cut_very_long_sentences) {
  std::string endless;
  for (int i = 0; i < 300; ++i) endless += "word" + std::string(1, static_cast<char>('a' + i % 26)) + " ";
  int segments = 0;
  for (const auto& piece : frames_of({endless}, seeded(1))) segments += piece->ends_segment && piece->rows > 0 ? 1 : 0;
  EXPECT_GE(segments, 4);
}

TEST_F(stages, refuse_a_sentence_of_too_many_ids) {
  auto json = nlohmann::json::parse(test::tiny_voice().json());
  json["phoneme_id_map"]["a"] = std::vector<int>(8, 10);
  folder_.write("tiny.onnx.json", json.dump());
  const auto model = load_talker({.model = path_, .stage = "talker"});
  const auto stage = model->make_runner({}, pool_);
  stage->open(0, seeded(1));
  EXPECT_NE(step(*stage, 0, text_payload(std::string(300, 'a')), true).input_problem, "");
  stage->close(0);
}

TEST_F(stages, refuse_frames_of_another_voice) {
  code2wav_->open(0, {});
  auto wrong = std::make_shared<payload>();
  wrong->what = payload::kind::rows;
  wrong->rows = 2;
  wrong->width = 8;
  wrong->bytes.resize(2 * 8 * 4);
  EXPECT_NE(step(*code2wav_, 0, wrong, false).input_problem, "");
  code2wav_->close(0);
  code2wav_->open(0, {});
  auto cut = std::make_shared<payload>(*wrong);
  cut->width = 16;
  EXPECT_NE(step(*code2wav_, 0, cut, false).input_problem, "");
  EXPECT_NE(step(*code2wav_, 0, text_payload("text"), false).input_problem, "");
  code2wav_->close(0);
}

TEST_F(stages, outlive_the_model_they_were_made_from) {
  talker_model_.reset();
  EXPECT_FALSE(frames_of({"still here."}, seeded(1)).empty());
}

class stages_of_three_speakers : public stages {
protected:
  stages_of_three_speakers() : stages(3) {}
};

TEST_F(stages_of_three_speakers, are_chosen_by_name) {
  EXPECT_EQ(talker_model_->speakers(), (std::vector<std::string>{"speaker_0", "speaker_1", "speaker_2"}));
  auto other = seeded(1);
  other.voice.speaker = "speaker_2";
  const auto frames = frames_of({"hello."}, other);
  EXPECT_NE(joined(frames), joined(frames_of({"hello."}, seeded(1))));
  code2wav_->open(0, other);
  const auto samples = outputs_of(*code2wav_, 0, frames);
  code2wav_->close(0);
  EXPECT_NE(joined(samples), joined(samples_of(frames)));
}

TEST_F(stages_of_three_speakers, unknown_ones_are_an_error_of_the_request) {
  auto unknown = seeded(1);
  unknown.voice.speaker = "nobody";
  for (auto* stage : {talker_.get(), code2wav_.get()}) {
    EXPECT_THROW(stage->open(0, unknown), input_error);
    stage->open(0, seeded(1)); // the slot is still free
    stage->close(0);
  }
}

} // namespace
} // namespace omni::vits
