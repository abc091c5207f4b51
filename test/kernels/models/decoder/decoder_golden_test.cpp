#include "test/kernels/models/decoder/decoder_driver.hpp"
#include "test/support/golden.hpp"
#include "test/support/golden_case.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

using test::best_of;
using test::decoder_driver;
using test::golden_case;

constexpr double layer_bound = 1e-4; // golden/README.md, "Tolerances"
constexpr double logits_bound = 2e-4;
constexpr double gguf_8bit_bound = 3e-2;

/// [rows, heads, dims] to [heads, rows, dims].
std::vector<float> heads_first(const std::vector<float>& x, const shape& to) {
  std::vector<float> y(x.size());
  for (std::int64_t h = 0; h < to[0]; ++h)
    for (std::int64_t r = 0; r < to[1]; ++r)
      std::copy_n(x.data() + (r * to[0] + h) * to[2], to[2], y.data() + (h * to[1] + r) * to[2]);
  return y;
}

bool is_heads_first(const std::string& name) {
  return name.ends_with(".q_rope") || name.ends_with(".k_rope") || name.ends_with(".v");
}

/// Every inner tensor that the case holds against what the step showed.
void expect_inner_tensors(const golden_case& golden, const decoder_driver& driver) {
  for (const auto& name : golden.tensors().names()) {
    if (!name.starts_with("layers.") && name != "embeddings" && name != "final_norm") continue;
    SCOPED_TRACE(name);
    if (name.ends_with("topk_ids")) {
      EXPECT_EQ(driver.seen_ids.at(name), golden.i32(name));
      continue;
    }
    ASSERT_TRUE(driver.seen.contains(name));
    auto found = driver.seen.at(name);
    if (is_heads_first(name)) found = heads_first(found, golden.extents(name));
    const auto expected = golden.f32(name);
    ASSERT_EQ(found.size(), expected.size());
    EXPECT_LE(test::relative_max(found.data(), expected.data(), static_cast<std::int64_t>(expected.size())),
              layer_bound);
  }
}

/// The last rows of `found` against the rows that the case keeps.
void expect_logits(const std::vector<float>& found, const std::vector<float>& expected, double bound) {
  ASSERT_GE(found.size(), expected.size());
  const float* const tail = found.data() + found.size() - expected.size();
  EXPECT_LE(test::absolute_max(tail, expected.data(), static_cast<std::int64_t>(expected.size())), bound);
}

/// Decodes greedily from the last logits and compares ids, and the logits that the case holds for the first of them.
void expect_greedy(decoder_driver& driver, std::vector<float> logits, const golden_case& golden,
                   const std::string& prefix, std::int32_t position) {
  const auto ids = golden.i32(prefix + "greedy.ids");
  const auto expected = golden.f32(prefix + "greedy.logits");
  const auto vocab = static_cast<std::size_t>(golden.extents(prefix + "greedy.logits")[1]);
  for (std::size_t i = 0; i < ids.size(); ++i) {
    logits = driver.last(logits);
    if ((i + 1) * vocab <= expected.size()) {
      const float* const wanted = expected.data() + i * vocab;
      EXPECT_LE(test::absolute_max(logits.data(), wanted, static_cast<std::int64_t>(vocab)), logits_bound);
    }
    ASSERT_EQ(best_of(logits), ids[i]) << "token " << i;
    logits = driver.feed({ids[i]}, position++);
  }
}

void expect_text_cases(const std::string& dtype_name) {
  int models = 0;
  for (const auto& folder : test::golden_folders("text")) {
    if (!std::filesystem::is_directory(folder / "model")) continue;
    SCOPED_TRACE(folder.filename().string());
    const auto model = decoder_model::load({folder / "model", "thinker", dtype_name});
    for (const auto& golden : test::golden_cases("text/" + folder.filename().string(), "case_")) {
      SCOPED_TRACE(golden.name());
      decoder_driver driver(model);
      driver.watch();
      const auto ids = golden.i32("input_ids");
      const auto logits = driver.feed(ids);
      expect_inner_tensors(golden, driver);
      expect_logits(logits, golden.f32("logits"), logits_bound);
      expect_greedy(driver, logits, golden, "", static_cast<std::int32_t>(ids.size()));
    }
    ++models;
  }
  EXPECT_GT(models, 0);
}

TEST(golden_text, checkpoints_in_float32_agree_with_the_reference) { expect_text_cases("float32"); }

TEST(golden_text, f32_checkpoints_loaded_as_stored_agree_with_the_reference) { expect_text_cases("auto"); }

TEST(golden_gguf_models, float32_agrees_with_the_reference) {
  for (const auto& path : test::golden_files("gguf", ".gguf")) {
    const golden_case golden(std::filesystem::path(path).replace_extension(".json"));
    SCOPED_TRACE(golden.name());
    const auto model = decoder_model::load({path, "thinker", "float32"});
    for (const auto& [prompt, about] : golden.json().at("prompts").items()) {
      SCOPED_TRACE(prompt);
      decoder_driver driver(model);
      const auto ids = golden.i32(prompt + ".input_ids");
      const auto logits = driver.feed(ids);
      expect_logits(logits, golden.f32(prompt + ".logits"), logits_bound);
      expect_greedy(driver, logits, golden, prompt + ".", static_cast<std::int32_t>(ids.size()));
    }
  }
}

TEST(golden_gguf_models, eight_bit_activations_stay_close) {
  for (const auto& path : test::golden_files("gguf", ".gguf")) {
    const golden_case golden(std::filesystem::path(path).replace_extension(".json"));
    SCOPED_TRACE(golden.name());
    const auto model = decoder_model::load({path, "thinker", "auto"});
    for (const auto& [prompt, about] : golden.json().at("prompts").items()) {
      SCOPED_TRACE(prompt);
      decoder_driver driver(model);
      const auto logits = driver.feed(golden.i32(prompt + ".input_ids"));
      const auto expected = golden.f32(prompt + ".logits");
      ASSERT_GE(logits.size(), expected.size());
      const float* const tail = logits.data() + logits.size() - expected.size();
      EXPECT_LE(test::relative_l2(tail, expected.data(), static_cast<std::int64_t>(expected.size())), gguf_8bit_bound);
    }
  }
}

} // namespace
} // namespace omni
