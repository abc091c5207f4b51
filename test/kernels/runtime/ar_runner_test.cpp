// The runner on the tiny checkpoints of the golden data.
#include "kernels/runtime/ar_runner.hpp"

#include "kernels/core/error.hpp"
#include "test/kernels/runtime/ar_session.hpp"
#include "test/support/golden.hpp"
#include "test/support/golden_case.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

using ids = std::vector<std::int32_t>;

std::shared_ptr<const stage_model> first_text_model() {
  for (const auto& folder : test::golden_folders("text"))
    if (std::filesystem::exists(folder / "model")) return load_stage_model({folder / "model", "thinker", "auto"});
  throw std::runtime_error("No text checkpoint in the golden data.");
}

/// A session on a model's runner.
struct session : test::ar_session {
  explicit session(const std::shared_ptr<const stage_model>& model, unsigned threads = 2)
      : test::ar_session(*model, {}, threads) {}
};

sampling_params drawn(std::uint64_t seed) {
  sampling_params p;
  p.seed = seed;
  p.temperature = 1.2F;
  p.frequency_penalty = 0.5F;
  p.repetition_penalty = 1.1F;
  return p;
}

ids alone(const std::shared_ptr<const stage_model>& model, const ids& prompt, const sampling_params& params,
          int steps) {
  session s(model, 1);
  s.open(0, prompt, params);
  for (int i = 0; i < steps; ++i) s.step({0});
  return s.tokens(0);
}

TEST(golden_runner, tokens_of_a_seed_do_not_depend_on_the_batch) {
  const auto model = first_text_model();
  const ids a = {5, 6, 7, 8, 9, 10, 11}, b = {100, 101}, c = {40, 3, 3, 3};
  session s(model);
  s.open(3, a, drawn(1));
  s.open(5, b, drawn(2));
  s.step({3}, 4);
  s.step({5, 3}, 4);
  for (int i = 0; i < 6; ++i) s.step({3, 5});
  s.open(4, c, drawn(3));
  for (int i = 0; i < 8; ++i) s.step({4, 5, 3});
  for (const auto& [slot, prompt, seed] : {std::tuple(3, a, 1U), std::tuple(5, b, 2U), std::tuple(4, c, 3U)}) {
    const auto& made = s.tokens(slot);
    EXPECT_EQ(made, alone(model, prompt, drawn(seed), static_cast<int>(made.size() - prompt.size())));
  }
}

TEST(golden_runner, an_interrupted_sequence_goes_on_with_the_same_tokens) {
  const auto model = first_text_model();
  const ids prompt = {12, 13, 14, 15, 16};
  session s(model);
  s.open(0, prompt, drawn(9));
  for (int i = 0; i < 9; ++i) s.step({0});
  s.interrupt(0);
  s.step({0}, 6);
  for (int i = 0; i < 9; ++i) s.step({0});
  EXPECT_EQ(s.tokens(0), alone(model, prompt, drawn(9), static_cast<int>(s.tokens(0).size() - prompt.size())));
}

TEST(golden_runner, a_closed_slot_leaves_nothing_behind) {
  const auto model = first_text_model();
  const ids prompt = {20, 21, 22};
  session s(model);
  s.open(0, {30, 31, 32, 33}, drawn(1));
  for (int i = 0; i < 5; ++i) s.step({0});
  s.close(0);
  s.open(0, prompt, drawn(4));
  for (int i = 0; i < 5; ++i) s.step({0});
  EXPECT_EQ(s.tokens(0), alone(model, prompt, drawn(4), 5));
}

TEST(golden_runner, an_unknown_token_is_the_problem_of_its_sequence_alone) {
  const auto model = first_text_model();
  session s(model);
  const ids good = {1, 2, 3};
  s.open(0, {1, s.info().vocab_size}, drawn(1));
  s.open(1, good, drawn(2));
  const auto result = s.step({0, 1});
  EXPECT_EQ(result.items[0].input_problem, "Token id " + std::to_string(s.info().vocab_size) +
                                               " is outside of the vocabulary of " +
                                               std::to_string(s.info().vocab_size) + " tokens.");
  EXPECT_EQ(result.items[0].token.id, -1);
  EXPECT_EQ(s.tokens(1), alone(model, good, drawn(2), 1));
}

TEST(golden_runner, tells_what_the_scheduler_must_know) {
  const auto model = first_text_model();
  thread_pool pool(1);
  runner_options options;
  options.block_size = 32;
  options.kv_cache_bytes = 10 * model->make_runner(options, pool)->info().block_bytes + 1;
  options.max_model_len = 100;
  const auto runner = model->make_runner(options, pool);
  EXPECT_EQ(runner->info().block_size, 32);
  EXPECT_EQ(runner->info().blocks, 10);
  EXPECT_EQ(runner->info().max_model_len, 100);
  EXPECT_FALSE(runner->info().eos_ids.empty());
  // No sequence can outgrow the cache.
  options.kv_cache_bytes = 2 * runner->info().block_bytes;
  EXPECT_EQ(model->make_runner(options, pool)->info().max_model_len, 64);
}

TEST(golden_runner, refuses_options_that_do_not_fit) {
  const auto model = first_text_model();
  thread_pool pool(1);
  runner_options odd_blocks, tiny_cache, too_long;
  odd_blocks.block_size = 20;
  tiny_cache.kv_cache_bytes = 1;
  too_long.max_model_len = 1 << 25;
  for (const auto& options : {odd_blocks, tiny_cache, too_long})
    EXPECT_THROW(model->make_runner(options, pool), load_error);
}

} // namespace
} // namespace omni
