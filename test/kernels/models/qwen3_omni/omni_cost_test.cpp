// The cost model against the figures of the real checkpoint: spec/models/qwen3_omni.md (parameters) and
// performance_floors.md (floors). What the page rounds is compared as it is rounded.
#include "kernels/models/qwen3_omni/omni_cost.hpp"

#include "kernels/models/qwen3_omni/audio_encoder.hpp"
#include "kernels/models/qwen3_omni/talker_model.hpp"
#include "kernels/models/qwen3_omni/vision_encoder.hpp"
#include "kernels/models/qwen3_omni/vocoder.hpp"
#include "kernels/weights/dummy_checkpoint.hpp"
#include "test/kernels/weights/file_builder.hpp"
#include "test/support/qwen3_omni_config.hpp"

#include <algorithm>

namespace omni::qwen3_omni {
namespace {

constexpr double bandwidth = 4.8e12, tensor_flops = 990e12; // an H200, as the page has it
constexpr double bf16 = 2.0;

/// A folder with a config.json and nothing else.
class omni_folder {
public:
  explicit omni_folder(const nlohmann::json& config) { test::write_config(folder_.path(), config); }
  [[nodiscard]] model_config config() const { return load_config(folder_.path(), true); }
  [[nodiscard]] stage_cost cost(const std::string& stage, const cost_question& question = {}) const {
    return cost_of_stage({folder_.path(), stage}, question);
  }

private:
  test::temporary_folder folder_;
};

model_config real_config() { return omni_folder(test::real_qwen3_omni_config()).config(); }

double projection_values(const model_config& c) {
  const auto one = [&](std::int64_t out, std::int64_t in) { return static_cast<double>(out * in + out); };
  const std::int64_t width = c.talker->projection_width;
  return one(width, c.thinker.hidden) + one(c.talker->decoder.hidden, width);
}

TEST(omni_cost, the_real_checkpoint_has_its_parameters) {
  const auto c = real_config();
  const double audio = cost_of(c.audio).values, vision = cost_of(c.vision, 48, 48).values;
  const double thinker = omni::cost_of(c.thinker, bf16).held().values;
  const double talker = omni::cost_of(c.talker->decoder, bf16).held().values + 2 * projection_values(c);
  const double predictor = cost_of_predictor(*c.talker).values, code2wav = cost_of(*c.code2wav).values;
  EXPECT_EQ(audio, 647'927'168);
  EXPECT_EQ(vision, 538'631'408);
  EXPECT_EQ(thinker, 30'532'646'912);
  EXPECT_EQ(talker, 3'183'026'176);
  EXPECT_EQ(predictor, 141'570'304);
  EXPECT_EQ(code2wav, 216'016'577);
  EXPECT_EQ(audio + vision + thinker + talker + predictor + code2wav, 35'259'818'545);
}

TEST(omni_cost, thinker_decode) {
  const auto cost = omni::cost_of(real_config().thinker, bf16);
  EXPECT_NEAR((cost.dense + cost.head).bytes / 1e9, 2.460, 5e-4);
  EXPECT_NEAR(cost.flops_per_token() / 1e9, 6.08, 5e-3);
  EXPECT_EQ(cost.kv_token_values * 2, 98'304);
  struct row {
    double batch, experts, gigabytes, ms, flop_ms, tokens_per_s;
  };
  constexpr row rows[] = {{1, 8.0, 6.08, 1.27, 0.006, 789},      {2, 15.5, 9.48, 1.98, 0.012, 1012},
                          {4, 29.1, 15.65, 3.26, 0.025, 1227},   {8, 51.6, 25.84, 5.38, 0.049, 1486},
                          {16, 82.4, 39.80, 8.29, 0.098, 1930},  {32, 111.8, 53.09, 11.06, 0.197, 2893},
                          {64, 125.9, 59.51, 12.40, 0.39, 5162}, {128, 128.0, 60.43, 12.59, 0.79, 10168}};
  for (const auto& r : rows) {
    SCOPED_TRACE(r.batch);
    const double bytes = cost.bytes_read(r.batch), seconds = bytes / bandwidth;
    EXPECT_NEAR(128 * cost.experts_met(r.batch), r.experts, 0.051);
    EXPECT_NEAR(bytes / 1e9, r.gigabytes, 6e-3);
    EXPECT_NEAR(seconds * 1e3, r.ms, 6e-3);
    EXPECT_NEAR(r.batch * cost.flops_per_token() / tensor_flops * 1e3, r.flop_ms, 6e-3);
    EXPECT_NEAR(r.batch / seconds / r.tokens_per_s, 1.0, 1e-3);
  }
}

TEST(omni_cost, talker_step) {
  const auto cost = omni::cost_of(real_config().talker->decoder, bf16);
  EXPECT_NEAR((cost.dense + cost.head).bytes / 1e9, 0.295, 5e-4);
  EXPECT_NEAR(cost.flops_per_token() / 2e6, 289, 0.5);
  EXPECT_EQ(cost.kv_token_values * 2, 20'480);
  struct row {
    double batch, experts, gigabytes, ms;
  };
  for (const row& r : {row{1, 6.0, 0.578, 0.120},
                       {8, 40.8, 2.22, 0.463},
                       {32, 100.5, 5.04, 1.05},
                       {64, 122.1, 6.06, 1.26},
                       {128, 127.7, 6.32, 1.32}}) {
    SCOPED_TRACE(r.batch);
    EXPECT_NEAR(128 * cost.experts_met(r.batch), r.experts, 0.051);
    EXPECT_NEAR(cost.bytes_read(r.batch) / 1e9, r.gigabytes, 6e-3);
    EXPECT_NEAR(cost.bytes_read(r.batch) / bandwidth * 1e3, r.ms, 6e-3);
  }
}

TEST(omni_cost, code_predictor) {
  const auto cost = cost_of_predictor(*real_config().talker);
  EXPECT_NEAR(bf16 * cost.read_values / 1e9, 2.42, 5e-3);
  EXPECT_NEAR(bf16 * cost.read_values / bandwidth * 1e3, 0.505, 6e-4);
  EXPECT_NEAR(cost.flops / 1e9, 2.58, 5e-3);
}

TEST(omni_cost, code2wav) {
  const auto cost = cost_of(*real_config().code2wav);
  EXPECT_NEAR(cost.read_values / 1e6, 182.5, 0.05);
  EXPECT_NEAR(cost.flops / 1e9, 5.11, 0.01);
  EXPECT_NEAR(cost.flops * 12.5 / 1e9, 63.9, 0.1);
  const double keys_and_values = 8 * 2 * 16 * 64 * 71;
  EXPECT_NEAR(static_cast<double>(cost.state_values) - keys_and_values, 134e3, 1e3);
}

TEST(omni_cost, encoders) {
  const auto c = real_config();
  EXPECT_NEAR(cost_of(c.audio).flops / 1e9, 20.9, 0.05);
  EXPECT_NEAR(cost_of(c.audio).flops * 8 / 1e9, 167, 0.5);
  const auto picture = cost_of(c.vision, 48, 48);
  // The page leaves the patches' embedding and the four mergers out.
  const double embedding = 2.0 * 2304 * 1152 * 1536, mergers = 2.0 * 576 * 4 * (4608.0 * 4608 + 2048.0 * 4608);
  EXPECT_NEAR((picture.flops - embedding - mergers) / 1e12, 1.9, 0.01);
  EXPECT_NEAR(picture.attention_flops / 1e12, 0.66, 5e-3);
}

TEST(omni_cost, memory_of_the_stages) {
  const omni_folder real(test::real_qwen3_omni_config());
  constexpr double gib = 1 << 30;
  const auto part = [](const stage_cost& cost, const std::string& name) {
    const auto found = std::ranges::find(cost.parts, name, &stage_cost::part::name);
    return found == cost.parts.end() ? 0.0 : found->held.bytes / gib;
  };
  const auto thinker = real.cost("thinker"), talker = real.cost("talker"), code2wav = real.cost("code2wav");
  EXPECT_NEAR(part(thinker, "text decoder"), 56.871, 5e-4);
  EXPECT_NEAR(part(thinker, "audio encoder"), 1.207, 5e-4);
  EXPECT_NEAR(part(thinker, "vision encoder"), 1.003, 5e-4);
  EXPECT_NEAR(part(talker, "decoder") + part(talker, "projections"), 5.929, 5e-4);
  EXPECT_NEAR(part(talker, "code predictor"), 0.264, 5e-4);
  EXPECT_NEAR(part(talker, "a copy of the thinker's embedding") * 1024, 594, 0.5);
  EXPECT_NEAR(part(code2wav, "vocoder"), 2 * 0.402, 1e-3) << "held in F32";
  EXPECT_EQ(thinker.kv_token_bytes, 98'304);
  EXPECT_EQ(thinker.kept_token_bytes, 4 * 2048) << "what the talker may be given";
  EXPECT_EQ(talker.kv_token_bytes, 20'480);
}

TEST(omni_cost, keys_and_values_count_at_a_context) {
  const omni_folder real(test::real_qwen3_omni_config());
  const auto steps = real.cost("thinker", {.max_num_seqs = 32, .max_num_batched_tokens = 512, .context = 8192}).steps;
  const auto found = std::ranges::find(steps, "decode, 32 sequences of 8192 tokens", &step_cost::what);
  ASSERT_NE(found, steps.end());
  EXPECT_NEAR(found->kv_bytes / 1e9, 25.8, 0.05);
  EXPECT_NEAR(found->kv_bytes / bandwidth * 1e3, 5.4, 0.05);
}

/// Values of all tensors that loading asks a checkpoint for.
template <class Load>
double values_asked_for(Load load) {
  const dummy_checkpoint file("a folder", dtype::bf16);
  load(file);
  double values = 0;
  for (const auto& name : file.names()) values += static_cast<double>(file.find(name)->values());
  return values;
}

TEST(omni_cost, counts_what_loading_asks_for) {
  const auto c = omni_folder(test::tiny_qwen3_omni_config()).config();
  EXPECT_EQ(values_asked_for([&](const auto& file) { audio_encoder(c.audio, file, false); }), cost_of(c.audio).values);
  EXPECT_EQ(values_asked_for([&](const auto& file) { vision_encoder(c.vision, file, false); }),
            cost_of(c.vision, 4, 4).values);
  EXPECT_EQ(values_asked_for([&](const auto& file) { vocoder(*c.code2wav, file); }), cost_of(*c.code2wav).values);
  const auto talker = values_asked_for(
      [&](const auto& file) { talker_model(*c.talker, c.tokens, c.thinker.vocab, c.thinker.hidden, file, false); });
  EXPECT_EQ(talker, omni::cost_of(c.talker->decoder, bf16).held().values + 2 * projection_values(c) +
                        cost_of_predictor(*c.talker).values + static_cast<double>(c.thinker.vocab * c.thinker.hidden));
}

} // namespace
} // namespace omni::qwen3_omni
