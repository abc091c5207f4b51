#include "kernels/models/qwen3_omni/code2wav.hpp"
#include "test/kernels/models/qwen3_omni/omni_case.hpp"
#include "test/kernels/models/qwen3_omni/stage_player.hpp"
#include "test/support/compute_fixture.hpp"

#include <map>
#include <random>

namespace omni::qwen3_omni {
namespace {

using test::compute_fixture;
using codes = std::vector<std::int32_t>;

/// [groups, frames] as the golden data keeps codes, frame by frame.
codes frames_of(const golden_case& golden) {
  const auto all = golden.i32("codes");
  const auto extents = golden.extents("codes");
  codes frames(all.size());
  for (std::int64_t q = 0; q < extents[0]; ++q)
    for (std::int64_t t = 0; t < extents[1]; ++t)
      frames[static_cast<std::size_t>(t * extents[0] + q)] = all[static_cast<std::size_t>(q * extents[1] + t)];
  return frames;
}

/// [channels, time] to rows of channels.
floats rows_of(const floats& x, const shape& extents) {
  floats y(x.size());
  for (std::int64_t c = 0; c < extents[0]; ++c)
    for (std::int64_t t = 0; t < extents[1]; ++t)
      y[static_cast<std::size_t>(t * extents[0] + c)] = x[static_cast<std::size_t>(c * extents[1] + t)];
  return y;
}

vocoder load_vocoder() {
  const auto [config, file] = open_model();
  return {*config.code2wav, *file};
}

void expect_sound(const floats& found, const floats& expected) {
  ASSERT_EQ(found.size(), expected.size());
  const auto count = static_cast<std::int64_t>(expected.size());
  EXPECT_GE(test::signal_to_noise(found.data(), expected.data(), count), 90.0);
  EXPECT_LE(test::absolute_max(found.data(), expected.data(), count), 1e-4);
}

floats whole_sound(const vocoder& model, const codes& frames, const op_context& context) {
  floats samples;
  vocoder::stream(model).decode(frames, samples, context);
  return samples;
}

TEST(golden_code2wav, agrees_with_the_reference) {
  compute_fixture on;
  const auto model = load_vocoder();
  int compared = 0;
  for (const auto& golden : test::golden_cases("qwen3_omni", "code2wav_T")) {
    SCOPED_TRACE(golden.name());
    std::map<std::string, floats> seen;
    vocoder::stream stream(model);
    stream.observe([&](const std::string& name, const tensor& t) {
      seen[name].insert(seen[name].end(), t.f32(), t.f32() + t.values());
    });
    floats samples;
    stream.decode(frames_of(golden), samples, on.context);
    expect_sound(samples, golden.f32("wav"));
    for (const auto& name : golden.tensors().names()) {
      if (name == "codes" || name == "wav" || name == "decoder.6") continue; // the last is the sound itself
      auto expected = golden.f32(name);
      const bool decoder = name.starts_with("decoder"); // sound by now, and held to the bound of sound
      if (decoder || name.starts_with("upsample")) expected = rows_of(expected, golden.extents(name));
      ASSERT_EQ(seen.at(name).size(), expected.size()) << name;
      if (decoder)
        EXPECT_GE(
            test::signal_to_noise(seen.at(name).data(), expected.data(), static_cast<std::int64_t>(expected.size())),
            90.0)
            << name;
      else
        expect_close(seen.at(name), expected, name);
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

TEST(golden_code2wav, of_whole_replies_agrees_with_the_reference) {
  compute_fixture on;
  const auto model = load_vocoder();
  for (const auto& golden : test::golden_cases("qwen3_omni", "e2e_")) {
    if (golden.name().starts_with("e2e_bf16")) continue;
    SCOPED_TRACE(golden.name());
    expect_sound(whole_sound(model, frames_of(golden), on.context), golden.f32("wav"));
  }
}

codes random_codes(const code2wav_config& config, std::int64_t frames, std::uint32_t seed) {
  std::mt19937 generator(seed);
  codes all(static_cast<std::size_t>(frames * config.groups));
  for (auto& code : all) code = static_cast<std::int32_t>(generator() % static_cast<std::uint32_t>(config.codebook));
  return all;
}

TEST(golden_code2wav, any_chunking_equals_one_shot) {
  compute_fixture on;
  const auto model = load_vocoder();
  const std::int64_t groups = model.config().groups;
  for (const std::int64_t frames : {1, 2, 9, 75, 140}) { // more than the window, and than fit the ring of keys
    const auto all = random_codes(model.config(), frames, static_cast<std::uint32_t>(frames));
    const auto whole = whole_sound(model, all, on.context);
    for (std::uint32_t seed = 0; seed < 12; ++seed) {
      SCOPED_TRACE(std::to_string(frames) + " frames, seed " + std::to_string(seed));
      std::mt19937 generator(seed);
      const compute_fixture alone(seed % 3 + 1);
      vocoder::stream stream(model);
      floats cut;
      for (std::int64_t at = 0; at < frames;) {
        const std::int64_t piece = std::min<std::int64_t>(frames - at, 1 + generator() % (1 + 3 * seed));
        stream.decode(
            std::span(all).subspan(static_cast<std::size_t>(at * groups), static_cast<std::size_t>(piece * groups)),
            cut, alone.context);
        at += piece;
      }
      EXPECT_EQ(cut, whole);
    }
  }
}

/// Samples that a frame may still change once it is decoded: see spec "Length law and lookahead".
std::int64_t held_back(const code2wav_config& config) {
  std::int64_t held = 0;
  for (const auto factor : config.upsampling) held *= factor;
  for (const auto rate : config.rates) held = (held + 1) * rate;
  return held;
}

TEST(golden_code2wav, a_frame_changes_nothing_before_it) {
  compute_fixture on;
  const auto model = load_vocoder();
  const auto& config = model.config();
  auto all = random_codes(config, 12, 7);
  const auto before = whole_sound(model, all, on.context);
  EXPECT_EQ(static_cast<std::int64_t>(before.size()), 12 * config.samples_per_frame() - held_back(config));
  for (const std::int64_t frame : {3, 11}) {
    auto changed = all;
    auto& code = changed[static_cast<std::size_t>(frame * config.groups)];
    code = (code + 1) % static_cast<std::int32_t>(config.codebook);
    const auto after = whole_sound(model, changed, on.context);
    const auto first = std::mismatch(before.begin(), before.end(), after.begin()).first - before.begin();
    EXPECT_GE(first, frame * config.samples_per_frame() - held_back(config));
    EXPECT_LT(first, (frame + 1) * config.samples_per_frame() - held_back(config));
  }
}

TEST(golden_code2wav_stage, gives_the_whole_sound_piece_by_piece) {
  thread_pool pool(2);
  compute_fixture on;
  const auto stage = load_code2wav({checkpoint_folder(), "code2wav", "auto"});
  const auto model = load_vocoder();
  const auto runner = stage->make_runner({}, pool);
  EXPECT_EQ(runner->info().sample_rate, 24000);
  const auto all = random_codes(model.config(), 70, 3);
  const auto whole = whole_sound(model, all, on.context);
  const auto groups = static_cast<std::size_t>(model.config().groups);
  sequence_slot slot = 0;
  for (const std::size_t frames : {1UL, 4UL, 70UL}) {
    test::stage_player player(*runner);
    player.open(slot, {});
    for (std::size_t at = 0; at < all.size(); at += frames * groups)
      player.give(slot, make_payload(payload::kind::rows,
                                     std::span(all).subspan(at, std::min(frames * groups, all.size() - at)),
                                     model.config().groups));
    player.give_end(slot);
    while (player.step({slot})) {}
    EXPECT_EQ(player.floats_of(slot), whole);
    player.close(slot++);
  }
}

TEST(golden_code2wav_stage, refuses_what_no_talker_of_its_model_makes) {
  thread_pool pool(1);
  const auto stage = load_code2wav({checkpoint_folder(), "code2wav", "auto"});
  const auto runner = stage->make_runner({}, pool);
  const auto problem = [&](std::shared_ptr<const payload> input) {
    runner->open(0, {});
    batch work;
    auto& item = work.items.emplace_back();
    item.input = std::move(input);
    const auto result = runner->execute(work);
    runner->close(0);
    return result.items.front().input_problem;
  };
  EXPECT_EQ(
      problem(make_payload<std::int32_t>(payload::kind::rows, codes{1, 2, 3}, 3)),
      "The vocoder got rows of 3 values where it needs frames of 4 codes: the stages before it run another model.");
  EXPECT_EQ(problem(make_payload<std::int32_t>(payload::kind::rows, codes{1, 2, 3, 128}, 4)),
            "The vocoder got the code 128 where it knows those below 128: the stages before it run another model.");
  EXPECT_EQ(problem(make_payload<std::int32_t>(payload::kind::rows, codes{1, 2, 3, 127}, 4)), "");
}

} // namespace
} // namespace omni::qwen3_omni
