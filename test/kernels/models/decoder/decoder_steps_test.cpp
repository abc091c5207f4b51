// A row's logits are the same bits however its sequence came to be in the cache and whatever was computed beside it.
#include "test/kernels/models/decoder/decoder_driver.hpp"
#include "test/support/golden.hpp"
#include "test/support/golden_case.hpp"

#include <cstring>
#include <gtest/gtest.h>
#include <random>

namespace omni {
namespace {

using test::decoder_driver;
using test::fed_part;

/// Every tiny checkpoint: safetensors in F32, GGUF in all quantisations.
std::vector<std::filesystem::path> all_models() {
  auto models = test::golden_files("gguf", ".gguf");
  for (const auto& folder : test::golden_folders("text"))
    if (std::filesystem::exists(folder / "model")) models.push_back(folder / "model");
  return models;
}

std::vector<std::int32_t> random_prompt(const decoder_model& model, std::size_t count, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<std::int32_t> ids(count);
  for (auto& id : ids) id = static_cast<std::int32_t>(generator() % static_cast<std::uint32_t>(model.config().vocab));
  return ids;
}

std::vector<std::int32_t> part_of(const std::vector<std::int32_t>& ids, std::size_t begin, std::size_t end) {
  return {ids.begin() + static_cast<std::ptrdiff_t>(begin),
          ids.begin() + static_cast<std::ptrdiff_t>(std::min(end, ids.size()))};
}

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

template <class Body>
void for_each_model(Body&& body) {
  for (const auto& path : all_models()) {
    SCOPED_TRACE(path.string());
    body(decoder_model::load({path, "thinker", "auto"}));
  }
}

TEST(golden_steps, a_prompt_in_pieces_is_the_prompt_at_once) {
  for_each_model([](const std::shared_ptr<const decoder_model>& model) {
    const auto prompt = random_prompt(*model, 150, 1);
    const auto whole = decoder_driver(model).feed(prompt);
    for (const std::size_t piece : {1UL, 7UL, 16UL, 64UL}) {
      decoder_driver driver(model, piece == 7 ? 1 : 2);
      std::vector<float> logits;
      for (std::size_t at = 0; at < prompt.size(); at += piece) {
        const auto some = driver.feed(part_of(prompt, at, at + piece), static_cast<std::int32_t>(at));
        logits.insert(logits.end(), some.begin(), some.end());
      }
      EXPECT_TRUE(same_bits(logits, whole)) << piece << " tokens at a time";
    }
  });
}

TEST(golden_steps, a_batch_computes_what_each_sequence_computes_alone) {
  for_each_model([](const std::shared_ptr<const decoder_model>& model) {
    const auto a = random_prompt(*model, 33, 2), b = random_prompt(*model, 20, 3), c = random_prompt(*model, 1, 4);
    const std::vector<std::int32_t> blocks_a = {9, 2, 5}, blocks_b = {7, 0}, blocks_c = {3};
    decoder_driver together(model);
    together.feed({{part_of(a, 0, 30), 0, blocks_a}, {part_of(b, 0, 11), 0, blocks_b}});
    // A prompt's rest, single tokens and a new sequence in one step.
    const auto mixed =
        together.feed({{part_of(b, 11, 20), 11, blocks_b}, {part_of(a, 30, 33), 30, blocks_a}, {c, 0, blocks_c}});
    std::vector<float> apart;
    for (const auto* prompt : {&b, &a, &c}) {
      decoder_driver driver(model, 1);
      const auto logits = driver.feed(*prompt);
      const std::size_t rows = prompt == &b ? 9 : prompt == &a ? 3 : 1;
      apart.insert(apart.end(), logits.end() - static_cast<std::ptrdiff_t>(rows) * model->config().vocab, logits.end());
    }
    EXPECT_TRUE(same_bits(mixed, apart));
  });
}

TEST(golden_steps, an_interrupted_sequence_resumes_where_it_was) {
  for_each_model([](const std::shared_ptr<const decoder_model>& model) {
    const auto prompt = random_prompt(*model, 40, 5);
    const auto whole = decoder_driver(model).feed(prompt);
    decoder_driver driver(model);
    driver.feed({{part_of(prompt, 0, 25), 0, {4, 1}}});
    // Its blocks went to another sequence; it is fed again into others, up to where it was and on.
    driver.feed({{random_prompt(*model, 32, 6), 0, {1, 4}}});
    const auto first = driver.feed({{part_of(prompt, 0, 26), 0, {8, 6}}});
    const auto rest = driver.feed({{part_of(prompt, 26, 40), 26, {8, 6, 2}}});
    std::vector<float> logits(first);
    logits.insert(logits.end(), rest.begin(), rest.end());
    EXPECT_TRUE(same_bits(logits, whole));
  });
}

TEST(golden_steps, shared_blocks_of_a_common_prefix_serve_both) {
  for_each_model([](const std::shared_ptr<const decoder_model>& model) {
    auto a = random_prompt(*model, 48, 7), b = a;
    b.back() = (b.back() + 1) % static_cast<std::int32_t>(model->config().vocab);
    const auto alone = decoder_driver(model).feed(b);
    decoder_driver driver(model);
    driver.feed({{a, 0, {0, 1, 2}}});
    const auto shared = driver.feed({{part_of(b, 32, 48), 32, {0, 1, 5}}});
    EXPECT_TRUE(same_bits(shared, {alone.end() - static_cast<std::ptrdiff_t>(shared.size()), alone.end()}));
  });
}

} // namespace
} // namespace omni
