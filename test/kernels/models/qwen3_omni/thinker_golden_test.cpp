// The thinker's decoder, fed with the encoders' outputs of the reference.
#include "kernels/models/qwen3_omni/thinker.hpp"
#include "test/kernels/models/decoder/decoder_driver.hpp"
#include "test/kernels/models/qwen3_omni/omni_case.hpp"

namespace omni::qwen3_omni {
namespace {

using test::decoder_driver;
using test::fed_part;

/// What stands in place of a case's pads: for each, the embedding and what pictures add.
struct media_input {
  std::vector<floats> values;
  std::vector<media_row> rows;
};

media_input media_of(const golden_case& golden, const model_config& config) {
  media_input media;
  const auto ids = golden.i32("input_ids");
  const auto embeds = golden.f32("inputs_embeds");
  const auto hidden = static_cast<std::size_t>(config.thinker.hidden);
  const std::size_t layers = config.vision.deepstack.size();
  const auto visual = golden.has("visual_and_deepstack") ? golden.f32("visual_and_deepstack") : floats();
  const std::size_t pictures = visual.size() / hidden / (1 + layers);
  std::size_t seen = 0;
  for (std::size_t i = 0; i < ids.size(); ++i) {
    if (!config.tokens.is_media(ids[i])) continue;
    auto& values = media.values.emplace_back(embeds.begin() + static_cast<std::ptrdiff_t>(i * hidden),
                                             embeds.begin() + static_cast<std::ptrdiff_t>((i + 1) * hidden));
    media.rows.push_back({static_cast<std::int32_t>(i), nullptr, 0});
    if (ids[i] == config.tokens.audio_pad) continue;
    for (std::size_t layer = 1; layer <= layers; ++layer) {
      const auto from = visual.begin() + static_cast<std::ptrdiff_t>((layer * pictures + seen) * hidden);
      values.insert(values.end(), from, from + static_cast<std::ptrdiff_t>(hidden));
    }
    media.rows.back().adds = static_cast<std::int32_t>(layers);
    ++seen;
  }
  for (std::size_t i = 0; i < media.rows.size(); ++i) media.rows[i].values = media.values[i].data();
  return media;
}

std::vector<std::int32_t> some_blocks(std::size_t tokens) {
  std::vector<std::int32_t> blocks(tokens / decoder_driver::block_size + 1);
  std::iota(blocks.begin(), blocks.end(), 3);
  return blocks;
}

void expect_inner_tensors(const golden_case& golden, const decoder_driver& driver) {
  for (const auto& name : golden.tensors().names()) {
    if (!name.starts_with("layers.") && name != "final_norm") continue;
    if (name.ends_with("topk_ids"))
      EXPECT_EQ(driver.seen_ids.at(name), golden.i32(name)) << name;
    else
      expect_close(driver.seen.at(name), golden.f32(name), name);
  }
  expect_close(driver.seen.at("embeddings"), golden.f32("inputs_embeds"), "inputs_embeds");
}

/// The rows of media of what the talker needs.
void expect_accepted(const golden_case& golden, const media_input& media, const decoder_driver& driver) {
  if (media.rows.empty()) return;
  const auto all = golden.f32("talker.accept_hidden");
  const std::size_t hidden = driver.accepted.size() / media.rows.size();
  floats expected;
  for (const auto& m : media.rows) {
    const auto from = all.begin() + static_cast<std::ptrdiff_t>(static_cast<std::size_t>(m.row) * hidden);
    expected.insert(expected.end(), from, from + static_cast<std::ptrdiff_t>(hidden));
  }
  expect_close(driver.accepted, expected, "accepted");
}

TEST(golden_thinker, agrees_with_the_reference_layer_by_layer_and_token_by_token) {
  const auto [config, file] = open_model();
  const auto model = load_thinker_decoder(checkpoint_folder(), config, file, false);
  for (const auto& golden : test::golden_cases("qwen3_omni", "e2e_")) {
    if (golden.name().starts_with("e2e_bf16")) continue;
    SCOPED_TRACE(golden.name());
    decoder_driver driver(model);
    driver.watch();
    const auto media = media_of(golden, config);
    const auto ids = golden.i32("input_ids");
    const auto made = golden.i32("generated.ids");
    const auto blocks = some_blocks(ids.size() + made.size());
    auto logits = driver.feed({fed_part{ids, 0, blocks, positions_of(golden.f32("positions")), media.rows}});
    expect_inner_tensors(golden, driver);
    expect_accepted(golden, media, driver);
    expect_tail(logits, golden.f32("logits"), "logits");
    const auto expected = golden.f32("generated.logits"), at = golden.f32("decode.positions");
    const auto vocab = static_cast<std::size_t>(config.thinker.vocab);
    for (std::size_t i = 0; i < made.size(); ++i) {
      logits = driver.last(logits);
      if ((i + 1) * vocab <= expected.size()) {
        const auto from = expected.begin() + static_cast<std::ptrdiff_t>(i * vocab);
        expect_tail(logits, {from, from + static_cast<std::ptrdiff_t>(vocab)}, "token " + std::to_string(i));
      }
      ASSERT_EQ(test::best_of(logits), made[i]) << "token " << i;
      if (i + 1 == made.size()) break;
      const rope_position where(at[3 * i], at[3 * i + 1], at[3 * i + 2]);
      logits = driver.feed({fed_part{{made[i]}, static_cast<std::int32_t>(ids.size() + i), blocks, {where}, {}}});
    }
  }
}

TEST(golden_thinker, in_bf16_stays_close) {
  const auto [config, file] = open_model("model_bf16");
  for (const bool as_f32 : {false, true}) {
    const auto model = load_thinker_decoder(checkpoint_folder("model_bf16"), config, file, as_f32);
    for (const auto& golden : test::golden_cases("qwen3_omni", "e2e_bf16")) {
      SCOPED_TRACE(golden.name());
      decoder_driver driver(model);
      const auto media = media_of(golden, config);
      const auto ids = golden.i32("input_ids");
      const auto logits =
          driver.feed({fed_part{ids, 0, some_blocks(ids.size()), positions_of(golden.f32("positions")), media.rows}});
      const auto expected = golden.f32("logits");
      const float* const tail = logits.data() + logits.size() - expected.size();
      const auto count = static_cast<std::int64_t>(expected.size());
      EXPECT_LE(test::relative_l2(tail, expected.data(), count), as_f32 ? 1e-4 : 3e-2);
    }
  }
}

TEST(golden_thinker, a_prompt_with_media_in_pieces_is_the_prompt_at_once) {
  const auto [config, file] = open_model();
  const auto model = load_thinker_decoder(checkpoint_folder(), config, file, false);
  for (const auto& golden : test::golden_cases("qwen3_omni", "e2e_mixed")) {
    const auto media = media_of(golden, config);
    const auto ids = golden.i32("input_ids");
    const auto positions = positions_of(golden.f32("positions"));
    const auto blocks = some_blocks(ids.size());
    decoder_driver at_once(model);
    const auto whole = at_once.feed({fed_part{ids, 0, blocks, positions, media.rows}});
    for (const std::size_t piece : {1UL, 5UL, 16UL}) {
      decoder_driver driver(model, 1);
      floats logits, accepted;
      for (std::size_t begin = 0; begin < ids.size(); begin += piece) {
        const auto end = std::min(begin + piece, ids.size());
        const auto part = [&](const auto& all) {
          return std::decay_t<decltype(all)>(all.begin() + static_cast<std::ptrdiff_t>(begin),
                                             all.begin() + static_cast<std::ptrdiff_t>(end));
        };
        std::vector<media_row> rows;
        for (auto m : media.rows) {
          m.row -= static_cast<std::int32_t>(begin);
          if (m.row >= 0 && m.row < static_cast<std::int32_t>(end - begin)) rows.push_back(m);
        }
        const auto some =
            driver.feed({fed_part{part(ids), static_cast<std::int32_t>(begin), blocks, part(positions), rows}});
        logits.insert(logits.end(), some.begin(), some.end());
        accepted.insert(accepted.end(), driver.accepted.begin(), driver.accepted.end());
      }
      EXPECT_EQ(logits, whole) << piece << " tokens at a time";
      EXPECT_EQ(accepted, at_once.accepted);
    }
  }
}

} // namespace
} // namespace omni::qwen3_omni
