#include "actors/engine.hpp"
#include "test/support/golden.hpp"
#include "test/support/golden_case.hpp"
#include "test/support/recording_sink.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <stdexcept>

namespace omni::test {
namespace {

engine_config text_engine(const std::filesystem::path& model, std::int64_t kv_bytes) {
  engine_config config;
  auto& stage = config.stages.emplace_back();
  stage.model_stage = "thinker";
  stage.model = model.string();
  stage.final_output_type = modality::text;
  stage.dtype = "float32";
  stage.block_size = 16;
  stage.max_num_seqs = 5;
  stage.max_num_batched_tokens = 48;
  stage.kv_cache_memory_bytes = kv_bytes;
  config.threads = 2;
  return config;
}

/// A cache that just holds the longest sequence, so that several of them must give way to each other.
std::int64_t scarce_kv_bytes(const std::filesystem::path& model, std::size_t longest) {
  const auto roomy = engine::start(text_engine(model, 0));
  if (!roomy) throw std::runtime_error(roomy.error().message);
  const auto& info = (*roomy)->info({0});
  return info.block_bytes * std::int64_t(longest / std::size_t(info.block_size) + 2);
}

/// Every case of a model at once, three times, over a scarce cache: chunked prompts, preemption and cache hits change
/// no token.
TEST(golden_engine, says_what_the_reference_says_however_it_is_scheduled) {
  for (const auto& folder : golden_folders("text")) {
    SCOPED_TRACE(folder.filename().string());
    const auto cases = golden_cases("text/" + folder.filename().string(), "case_");
    std::size_t longest = 0;
    for (const auto& one : cases)
      longest = std::max(longest, one.i32("input_ids").size() + one.i32("greedy.ids").size());
    const auto running = engine::start(text_engine(folder / "model", scarce_kv_bytes(folder / "model", longest)));
    ASSERT_TRUE(running) << running.error().message;
    std::vector<std::pair<std::shared_ptr<recording_sink>, std::vector<std::int32_t>>> answers;
    for (int copy = 0; copy < 3; ++copy)
      for (const auto& one : cases) {
        request what;
        what.prompt = one.i32("input_ids");
        what.sampling.temperature = 0;
        const auto expected = one.i32("greedy.ids");
        what.sampling.max_tokens = std::int32_t(expected.size());
        answers.emplace_back(std::make_shared<recording_sink>(), expected);
        const auto id = (*running)->submit(what, answers.back().first);
        ASSERT_TRUE(id) << one.name() << ": " << id.error().message;
      }
    for (const auto& [heard, expected] : answers) {
      heard->wait_for_end();
      EXPECT_FALSE(heard->problem());
      EXPECT_EQ(heard->tokens(), expected);
    }
  }
}

} // namespace
} // namespace omni::test
