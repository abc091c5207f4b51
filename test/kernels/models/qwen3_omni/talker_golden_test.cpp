#include "kernels/core/error.hpp"
#include "kernels/models/qwen3_omni/talker.hpp"
#include "kernels/models/qwen3_omni/talker_runner.hpp"
#include "test/kernels/models/qwen3_omni/omni_case.hpp"
#include "test/kernels/models/qwen3_omni/stage_player.hpp"
#include "test/support/compute_fixture.hpp"

#include <map>

namespace omni::qwen3_omni {
namespace {

using test::stage_player;
using ids = std::vector<std::int32_t>;

std::shared_ptr<const talker_model> load_model(const std::string& name = "model") {
  const auto [config, file] = open_model(name);
  return std::make_shared<talker_model>(*config.talker, config.tokens, config.thinker.vocab, config.thinker.hidden,
                                        *file, false);
}

std::vector<golden_case> f32_cases() {
  std::vector<golden_case> cases;
  for (auto& golden : test::golden_cases("qwen3_omni", "e2e_"))
    if (!golden.name().starts_with("e2e_bf16")) cases.push_back(golden);
  return cases;
}

/// What the thinker hands on in a case, besides the reply's tokens.
struct handed {
  ids prompt;
  std::vector<rope_position> media_positions;
  floats rows; // of media
};

handed handed_in(const golden_case& golden, const talker_model& model) {
  handed all{golden.i32("input_ids"), {}, {}};
  const auto positions = positions_of(numbers(golden, "positions"));
  const auto accepted = golden.f32("talker.accept_hidden");
  const auto width = static_cast<std::size_t>(model.thinker_hidden());
  for (std::size_t i = 0; i < all.prompt.size(); ++i) {
    if (!model.tokens().is_media(all.prompt[i])) continue;
    const auto& p = positions[i];
    all.media_positions.push_back(p);
    all.rows.insert(all.rows.end(), {p.time, p.height, p.width});
    const auto from = accepted.begin() + static_cast<std::ptrdiff_t>(i * width);
    all.rows.insert(all.rows.end(), from, from + static_cast<std::ptrdiff_t>(width));
  }
  return all;
}

void give_prompt(stage_player& player, sequence_slot slot, const golden_case& golden, const talker_model& model) {
  const auto all = handed_in(golden, model);
  if (!all.rows.empty())
    player.give(slot, make_payload<float>(payload::kind::rows, all.rows, handed_width(model.thinker_hidden())));
  auto prompt = make_payload<std::int32_t>(payload::kind::tokens, all.prompt, 1);
  prompt->ends_segment = true;
  player.give(slot, prompt);
}

/// The tokens that the thinker was fed with: all but the last.
ids reply_of(const golden_case& golden) {
  auto reply = golden.i32("generated.ids");
  reply.pop_back();
  return reply;
}

void give_all(stage_player& player, sequence_slot slot, const golden_case& golden, const talker_model& model) {
  give_prompt(player, slot, golden, model);
  for (const auto id : reply_of(golden))
    player.give(slot, make_payload<std::int32_t>(payload::kind::tokens, ids{id}, 1));
  player.give_end(slot);
}

/// [groups, frames] as the golden data keeps codes, frame by frame.
ids codes_of(const golden_case& golden) {
  const auto all = golden.i32("codes");
  const auto extents = golden.extents("codes");
  ids frames;
  for (std::int64_t t = 0; t < extents[1]; ++t)
    for (std::int64_t q = 0; q < extents[0]; ++q) frames.push_back(all[static_cast<std::size_t>(q * extents[1] + t)]);
  return frames;
}

TEST(golden_talker_prompt, hears_the_user_and_restarts_positions) {
  const auto model = load_model();
  for (const auto& golden : f32_cases()) {
    SCOPED_TRACE(golden.name());
    const auto all = handed_in(golden, *model);
    const auto prompt = read_talker_prompt(all.prompt, all.media_positions, model->tokens());
    ASSERT_EQ(prompt.problem, "");
    const auto expected = golden.i32("talker.prefill_ids");
    const auto positions = positions_of(numbers(golden, "talker.prefill_positions"));
    ASSERT_EQ(prompt.heard.size() + 9, expected.size());
    for (std::size_t i = 0; i < prompt.heard.size(); ++i) {
      const auto& heard = prompt.heard[i];
      if (heard.media < 0)
        EXPECT_EQ(heard.text, expected[i]);
      else
        EXPECT_TRUE(model->tokens().is_media(expected[i]));
      EXPECT_EQ(heard.position, positions[i]) << i;
    }
    EXPECT_EQ(prompt.next_position, positions[prompt.heard.size()].time);
    EXPECT_TRUE(prompt.reply.empty());
  }
}

TEST(golden_talker_prompt, refuses_other_turns) {
  const auto model = load_model();
  const auto& t = model->tokens();
  const auto problem = [&](const ids& prompt) { return read_talker_prompt(prompt, {}, t).problem; };
  EXPECT_NE(problem({t.im_start, 5, 6, t.im_start, t.assistant, 7}).find("neither"), std::string::npos);
  EXPECT_NE(problem({t.im_start, t.user, 6}).find("generation prompt"), std::string::npos);
  EXPECT_NE(problem({}).find("generation prompt"), std::string::npos);
  EXPECT_EQ(problem({t.im_start, t.assistant, 7}), "");
}

TEST(golden_talker, projects_text_as_the_reference) {
  const auto model = load_model();
  test::compute_fixture on;
  for (const auto& golden : f32_cases()) {
    const workspace::scope scope(on.scratch);
    auto texts = reply_of(golden);
    texts.erase(texts.begin());
    texts.insert(texts.end(), {model->tokens().tts_eos, model->tokens().tts_pad});
    auto expected = golden.f32("talker.trailing_text");
    const auto pad = golden.f32("talker.tts_pad_embed");
    expected.insert(expected.end(), pad.begin(), pad.end());
    const tensor rows = model->text_rows(texts, on.context);
    expect_close({rows.f32(), rows.f32() + rows.values()}, expected, golden.name());
  }
}

/// Inner tensors of steps, those of the same name after each other.
struct recorder {
  std::map<std::string, std::vector<floats>> seen;
  tensor_observer observer() {
    return [this](const std::string& name, const tensor& t) {
      if (t.type == dtype::f32) seen[name].emplace_back(t.f32(), t.f32() + t.values());
    };
  }
  [[nodiscard]] floats all(const std::string& name, std::size_t from = 0) const {
    floats joined;
    for (std::size_t i = from; i < seen.at(name).size(); ++i)
      joined.insert(joined.end(), seen.at(name)[i].begin(), seen.at(name)[i].end());
    return joined;
  }
};

void expect_inner_tensors(const golden_case& golden, const recorder& recorded) {
  expect_close(recorded.seen.at("x").front(), golden.f32("talker.prefill_embeds"), "prefill_embeds");
  expect_close(recorded.all("x", 1), golden.f32("talker.step_inputs"), "step_inputs");
  for (const auto& name : golden.tensors().names())
    if (const std::string prefix = "talker.prefill."; name.starts_with(prefix))
      expect_close(recorded.seen.at(name.substr(prefix.size())).front(), golden.f32(name), name);
  expect_close(recorded.all("h"), golden.f32("talker.h"), "h");
  expect_tail(recorded.all("logits"), golden.f32("talker.logits"), "logits");
  expect_tail(recorded.all("logits_processed"), golden.f32("talker.logits_processed"), "logits_processed");
  const auto extents = golden.extents("predictor.logits"); // [frames, groups - 1, codes]
  const auto expected = golden.f32("predictor.logits");
  floats found;
  for (std::int64_t f = 0; f < extents[0]; ++f)
    for (std::int64_t g = 1; g <= extents[1]; ++g) {
      const auto& one = recorded.seen.at("predictor.logits." + std::to_string(g)).at(static_cast<std::size_t>(f));
      found.insert(found.end(), one.begin(), one.end());
    }
  ASSERT_EQ(found.size(), expected.size());
  expect_tail(found, expected, "predictor.logits");
}

TEST(golden_talker, agrees_with_the_reference_step_by_step) {
  const auto model = load_model();
  thread_pool pool(2);
  for (const auto& golden : f32_cases()) {
    SCOPED_TRACE(golden.name());
    talker_runner runner(model, 12.5, {}, pool);
    recorder recorded;
    runner.observe(recorded.observer());
    stage_player player(runner);
    player.open(0, talker_params(golden));
    give_all(player, 0, golden, *model);
    while (player.step({0})) {}
    EXPECT_TRUE(player.finished(0));
    EXPECT_EQ(player.codes_of(0), codes_of(golden));
    expect_inner_tensors(golden, recorded);
  }
}

TEST(golden_talker, in_bf16_stays_close_to_the_reference) {
  const auto model = load_model("model_bf16");
  thread_pool pool(2);
  for (const auto& golden : test::golden_cases("qwen3_omni", "e2e_bf16")) {
    SCOPED_TRACE(golden.name());
    talker_runner runner(model, 12.5, {}, pool);
    recorder recorded;
    runner.observe(recorded.observer());
    stage_player player(runner);
    player.open(0, talker_params(golden));
    give_all(player, 0, golden, *model);
    while (player.step({0})) {}
    const auto found = recorded.seen.at("logits").front(), all = golden.f32("talker.logits");
    EXPECT_LE(test::relative_l2(found.data(), all.data(), static_cast<std::int64_t>(found.size())), 3e-2);
  }
}

TEST(golden_talker, waits_for_the_thinker_and_never_speaks_ahead) {
  const auto model = load_model();
  thread_pool pool(2);
  const auto golden = f32_cases().front();
  talker_runner runner(model, 12.5, {}, pool);
  stage_player player(runner);
  player.open(0, talker_params(golden));
  give_prompt(player, 0, golden, *model);
  while (player.step({0})) {}
  EXPECT_TRUE(player.outputs(0).empty()); // the first frame needs the first token
  std::size_t given = 0;
  for (const auto id : reply_of(golden)) {
    player.give(0, make_payload<std::int32_t>(payload::kind::tokens, ids{id}, 1));
    while (player.step({0})) {}
    ++given;
    EXPECT_TRUE(player.finished(0) || player.outputs(0).size() == given); // frame s needs token s
  }
  player.give_end(0);
  while (player.step({0})) {}
  EXPECT_EQ(player.codes_of(0), codes_of(golden));
}

TEST(golden_talker, in_a_batch_speaks_as_alone) {
  const auto model = load_model();
  thread_pool pool(2);
  const auto cases = f32_cases();
  runner_options options;
  options.max_num_batched_tokens = 20; // prompts in pieces, beside frames of others
  talker_runner runner(model, 12.5, options, pool);
  stage_player player(runner);
  std::vector<sequence_slot> slots;
  for (std::size_t i = 0; i < cases.size(); ++i) {
    slots.push_back(static_cast<sequence_slot>(i));
    player.open(slots.back(), talker_params(cases[i]));
    give_all(player, slots.back(), cases[i], *model);
    player.step(slots);
  }
  while (player.step(slots)) {}
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(player.codes_of(slots[i]), codes_of(cases[i])) << cases[i].name();
}

/// A KV cache that just holds the longest of the cases.
runner_options room_for_one(const std::vector<golden_case>& cases, const talker_model& model) {
  std::int64_t longest = 0;
  for (const auto& golden : cases)
    longest = std::max<std::int64_t>(longest, golden.extents("talker.prefill_embeds")[0] + 40);
  runner_options options;
  options.kv_cache_bytes = (longest / 16 + 1) * model.decoder().cache_shape(16).block_bytes();
  return options;
}

TEST(golden_talker, short_of_memory_computes_the_young_anew) {
  const auto model = load_model();
  thread_pool pool(2);
  const auto cases = f32_cases();
  talker_runner runner(model, 12.5, room_for_one(cases, *model), pool);
  stage_player player(runner);
  std::vector<sequence_slot> slots;
  // The young begin alone, then the old take their blocks.
  for (std::size_t i = 0; i < cases.size(); ++i) {
    slots.push_back(static_cast<sequence_slot>(i));
    player.open(slots.back(), talker_params(cases[i]));
    give_all(player, slots.back(), cases[i], *model);
  }
  for (std::size_t i = slots.size(); i-- > 0;)
    for (int n = 0; n < 8; ++n) player.step({slots[i]});
  while (player.step(slots)) {}
  for (std::size_t i = 0; i < cases.size(); ++i)
    EXPECT_EQ(player.codes_of(slots[i]), codes_of(cases[i])) << cases[i].name();
}

TEST(golden_talker, draws_the_same_codes_for_a_seed_whatever_runs_beside) {
  const auto stage = load_talker({checkpoint_folder(), "talker", "auto"});
  const auto model = load_model();
  thread_pool pool(2);
  const auto cases = f32_cases();
  const auto speak = [&](const std::vector<std::uint64_t>& seeds) {
    const auto runner = stage->make_runner({}, pool);
    stage_player player(*runner);
    std::vector<sequence_slot> slots;
    for (const auto seed : seeds) {
      sequence_params params;
      params.sampling = stage->default_sampling();
      params.sampling.max_tokens = 12;
      params.sampling.seed = seed;
      slots.push_back(static_cast<sequence_slot>(slots.size()));
      player.open(slots.back(), params);
      give_all(player, slots.back(), cases.front(), *model);
    }
    while (player.step(slots)) {}
    std::vector<ids> codes;
    for (const auto slot : slots) codes.push_back(player.codes_of(slot));
    return codes;
  };
  const auto alone = speak({7}), together = speak({3, 7, 7});
  EXPECT_EQ(together[1], alone[0]);
  EXPECT_EQ(together[2], alone[0]);
  EXPECT_NE(together[0], alone[0]);
}

TEST(golden_talker, that_was_aborted_leaves_nothing_behind) {
  const auto model = load_model();
  thread_pool pool(2);
  const auto cases = f32_cases();
  talker_runner runner(model, 12.5, {}, pool);
  stage_player player(runner);
  player.open(0, talker_params(cases.back()));
  give_all(player, 0, cases.back(), *model);
  for (int i = 0; i < 5; ++i) player.step({0});
  player.close(0);
  player.open(0, talker_params(cases.front()));
  give_all(player, 0, cases.front(), *model);
  while (player.step({0})) {}
  EXPECT_EQ(player.codes_of(0), codes_of(cases.front()));
}

TEST(golden_talker, waiting_for_the_thinker_gives_its_blocks_to_who_can_go_on) {
  const auto model = load_model();
  thread_pool pool(2);
  const auto cases = f32_cases();
  talker_runner runner(model, 12.5, room_for_one(cases, *model), pool);
  stage_player player(runner);
  const auto &first = cases.front(), &second = cases.back();
  player.open(0, talker_params(first));
  give_prompt(player, 0, first, *model);
  const auto reply = reply_of(first);
  player.give(0, make_payload<std::int32_t>(payload::kind::tokens, ids{reply.front()}, 1));
  while (player.step({0})) {} // it holds blocks and waits, being the older one
  player.open(1, talker_params(second));
  give_all(player, 1, second, *model);
  while (player.step({1})) {}
  EXPECT_EQ(player.codes_of(1), codes_of(second));
  player.give(0, make_payload<std::int32_t>(payload::kind::tokens, ids(reply.begin() + 1, reply.end()), 1));
  player.give_end(0);
  while (player.step({0})) {}
  EXPECT_EQ(player.codes_of(0), codes_of(first));
}

TEST(golden_talker, that_holds_no_more_ends_with_what_it_said) {
  const auto model = load_model();
  thread_pool pool(2);
  for (const auto& golden : f32_cases()) {
    const auto expected = codes_of(golden);
    const auto frames = static_cast<std::int64_t>(expected.size()) / model->config().code_groups;
    if (frames < 3) continue;
    SCOPED_TRACE(golden.name());
    runner_options options;
    options.max_model_len = static_cast<std::int32_t>(golden.extents("talker.prefill_embeds")[0] + 1);
    talker_runner runner(model, 12.5, options, pool);
    stage_player player(runner);
    player.open(0, talker_params(golden));
    give_all(player, 0, golden, *model);
    while (player.step({0})) {}
    EXPECT_TRUE(player.finished(0));
    const auto said = player.codes_of(0);
    ASSERT_LT(said.size(), expected.size());
    EXPECT_EQ(said, ids(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(said.size())));
    EXPECT_GE(static_cast<std::int64_t>(said.size()), 2 * model->config().code_groups);
  }
}

TEST(golden_talker, without_a_reply_says_nothing) {
  const auto model = load_model();
  thread_pool pool(1);
  const auto golden = f32_cases().front();
  talker_runner runner(model, 12.5, {}, pool);
  stage_player player(runner);
  player.open(0, talker_params(golden));
  give_prompt(player, 0, golden, *model);
  player.give_end(0);
  while (player.step({0})) {}
  EXPECT_TRUE(player.finished(0));
  EXPECT_TRUE(player.outputs(0).empty());
}

TEST(golden_talker, knows_its_speakers) {
  const auto stage = load_talker({checkpoint_folder(), "talker", "auto"});
  auto names = stage->speakers();
  std::string sorted;
  const auto config = load_config(checkpoint_folder());
  for (const auto& [name, code] : config.talker->speakers) sorted += (sorted.empty() ? "" : ", ") + name;
  ASSERT_FALSE(names.empty());
  EXPECT_TRUE(names.front() == "ethan" || !config.talker->speakers.contains("ethan")) << "the reference's default";
  std::ranges::sort(names);
  std::string told;
  for (const auto& name : names) told += (told.empty() ? "" : ", ") + name;
  EXPECT_EQ(told, sorted);
  thread_pool pool(1);
  const auto runner = stage->make_runner({}, pool);
  sequence_params params;
  params.voice.speaker = "nobody";
  try {
    runner->open(0, params);
    FAIL() << "an unknown speaker must be refused";
  } catch (const input_error& problem) {
    EXPECT_EQ(problem.param, "voice");
    EXPECT_EQ(problem.what(), "There is no speaker of that name in this model; there are " + sorted + ".");
  }
}

} // namespace
} // namespace omni::qwen3_omni
