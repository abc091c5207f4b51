#include "kernels/runtime/sampler.hpp"

#include "kernels/runtime/philox.hpp"
#include "test/support/golden.hpp"
#include "test/support/golden_case.hpp"
#include "test/support/random_floats.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace omni {
namespace {

using floats = std::vector<float>;
using ids = std::vector<std::int32_t>;

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

sampling_params seeded(std::uint64_t seed = 7) {
  sampling_params p;
  p.seed = seed;
  return p;
}

sampler make(const sampling_params& params, std::size_t vocab, const ids& prompt = {}, const ids& eos = {}) {
  return {params, prompt, eos, static_cast<std::int32_t>(vocab)};
}

/// The probability that each token is drawn with, from the stages of the sampler.
std::vector<double> distribution(const sampler& s, floats logits, float temperature, std::int64_t position) {
  s.adjust(logits.data(), position);
  const kept_tokens kept = s.keep(logits.data());
  ids which = kept.ids;
  if (kept.all)
    for (std::size_t i = 0; i < logits.size(); ++i) which.push_back(static_cast<std::int32_t>(i));
  const double most = *std::max_element(logits.begin(), logits.end());
  std::vector<double> p(logits.size());
  double total = 0.0;
  for (const auto id : which)
    total += p[static_cast<std::size_t>(id)] = std::exp((logits[static_cast<std::size_t>(id)] - most) / temperature);
  for (double& x : p) x /= total;
  return p;
}

/// The stages of a golden case up to and including `last`.
sampling_params golden_params(const nlohmann::json& c, const std::string& last) {
  auto p = seeded();
  for (const std::string stage : {"penalty", "suppress", "temperature", "top_k", "top_p"}) {
    if (c.contains(stage)) {
      if (stage == "penalty") p.repetition_penalty = c.at(stage);
      if (stage == "temperature") p.temperature = c.at(stage);
      if (stage == "top_k") p.top_k = c.at(stage);
      if (stage == "top_p") p.top_p = c.at(stage);
      if (stage == "suppress")
        for (const auto& id : c.at(stage)) p.logit_bias.emplace_back(id, minus_infinity);
    }
    if (stage == last) break;
  }
  return p;
}

/// softmax of logits of which some are minus infinity
std::vector<double> softmax(const floats& logits) {
  const double most = *std::max_element(logits.begin(), logits.end());
  std::vector<double> p;
  double total = 0.0;
  for (const float l : logits) total += p.emplace_back(std::exp(static_cast<double>(l) - most));
  for (double& x : p) x /= total;
  return p;
}

void expect_distribution(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i] > 0.0, expected[i] > 0.0) << i;
    EXPECT_NEAR(found[i], expected[i], 1e-6) << i;
  }
}

TEST(golden_sampling, each_stage_leaves_what_the_reference_leaves) {
  const test::golden_case golden(test::golden_dir() / "sampling" / "sampling.json");
  for (const auto& c : golden.json().at("cases")) {
    const std::string index = std::to_string(c.at("index").get<int>());
    SCOPED_TRACE("case " + index);
    const auto logits = golden.f32(index + ".logits");
    const auto history = golden.i32(index + ".history");
    const auto run = [&](const std::string& last) {
      const auto params = golden_params(c, last);
      return distribution(make(params, logits.size(), history), logits, params.temperature,
                          static_cast<std::int64_t>(history.size()));
    };
    for (const std::string stage : {"penalty", "suppress", "temperature", "top_k", "top_p"}) {
      SCOPED_TRACE(stage);
      const std::string name = index + ".after_" + stage;
      if (golden.has(name)) expect_distribution(run(stage), softmax(golden.f32(name)));
    }
    const auto probabilities = golden.f32(index + ".probabilities");
    expect_distribution(run("top_p"), {probabilities.begin(), probabilities.end()});
  }
}

/// Draws many tokens and compares their frequencies with what they should be; chi-square within five deviations.
void expect_frequencies(const sampling_params& params, const floats& logits) {
  constexpr int draws = 40000;
  const auto s = make(params, logits.size());
  const auto p = distribution(s, logits, params.temperature, 0);
  std::vector<int> counts(logits.size());
  for (int i = 0; i < draws; ++i) {
    auto copy = logits;
    ++counts[static_cast<std::size_t>(s.choose(copy.data(), i).id)];
  }
  double chi_square = 0.0, freedom = -1.0;
  for (std::size_t i = 0; i < p.size(); ++i) {
    if (p[i] == 0.0) {
      EXPECT_EQ(counts[i], 0) << i;
      continue;
    }
    const double expected = p[i] * draws;
    if (expected < 5.0) continue; // too rare for the statistic
    chi_square += (counts[i] - expected) * (counts[i] - expected) / expected;
    freedom += 1.0;
  }
  ASSERT_GT(freedom, 0.0);
  EXPECT_LT(chi_square, freedom + 5.0 * std::sqrt(2.0 * freedom));
  EXPECT_GT(chi_square, freedom - 5.0 * std::sqrt(2.0 * freedom)); // suspiciously even is wrong, too
}

TEST(sampler, draws_with_the_exact_probabilities) {
  auto logits = test::random_floats(300, 11);
  for (float& l : logits) l *= 4.0F;
  auto params = seeded(123);
  expect_frequencies(params, logits);
  params.temperature = 0.6F;
  expect_frequencies(params, logits);
  params.top_k = 20;
  expect_frequencies(params, logits);
  params.top_p = 0.8F;
  expect_frequencies(params, logits);
  params.top_k = 0;
  expect_frequencies(params, logits);
  params.top_p = 1.0F;
  params.min_p = 0.1F;
  expect_frequencies(params, logits);
}

TEST(sampler, draws_the_same_token_for_the_same_seed_and_place) {
  const auto logits = test::random_floats(1000, 1);
  ids first, second, other;
  const auto a = make(seeded(5), 1000), b = make(seeded(5), 1000), c = make(seeded(6), 1000);
  for (int i = 0; i < 50; ++i) {
    auto x = logits, y = logits, z = logits;
    first.push_back(a.choose(x.data(), i).id);
    second.push_back(b.choose(y.data(), i).id);
    other.push_back(c.choose(z.data(), i).id);
  }
  EXPECT_EQ(first, second);
  EXPECT_NE(first, other);
}

TEST(sampler, is_greedy_at_temperature_zero_and_takes_the_lowest_id_on_ties) {
  sampling_params params;
  params.temperature = 0.0F;
  for (const std::size_t vocab : {3UL, 64UL, 65UL, 1000UL}) {
    floats logits(vocab, -1.0F);
    logits[vocab - 1] = 2.0F;
    logits[vocab / 2] = 2.0F;
    EXPECT_EQ(make(params, vocab).choose(logits.data(), 0).id, static_cast<std::int32_t>(vocab / 2));
  }
}

TEST(sampler, keeps_tokens_of_at_least_min_p_of_the_best) {
  auto params = seeded();
  params.min_p = 0.25F;
  params.temperature = 2.0F;
  // e^(-2.7/2) = 0.259, e^(-2.8/2) = 0.247
  floats logits = {5.0F, 5.0F - 2.7F, 5.0F - 2.8F, 0.0F};
  EXPECT_EQ(make(params, 4).keep(logits.data()).ids, (ids{0, 1}));
}

TEST(sampler, counts_what_was_made_for_presence_and_frequency_and_the_prompt_for_repetition) {
  auto params = seeded();
  params.presence_penalty = 0.5F;
  params.frequency_penalty = 0.25F;
  params.repetition_penalty = 2.0F;
  auto s = make(params, 5, {1, 4});
  s.fed(0, ids{1, 4, 2, 2});
  s.fed(4, ids{1});
  floats logits = {1.0F, 1.0F, 1.0F, -1.0F, -1.0F};
  s.adjust(logits.data(), 5);
  EXPECT_EQ(logits, (floats{1.0F, 0.5F - 0.25F - 0.5F, 0.5F - 0.5F - 0.5F, -1.0F, -2.0F}));
}

TEST(sampler, counts_a_token_once_when_an_interrupted_sequence_is_fed_again) {
  auto params = seeded();
  params.frequency_penalty = 1.0F;
  auto s = make(params, 3, {0});
  s.fed(0, ids{0, 2});
  s.fed(0, ids{0, 2, 1}); // from the start, and one more
  s.fed(3, ids{1});
  floats logits(3);
  s.adjust(logits.data(), 4);
  EXPECT_EQ(logits, (floats{0.0F, -2.0F, -1.0F}));
}

TEST(sampler, masks_what_would_end_a_sequence_before_min_tokens) {
  auto params = seeded();
  params.min_tokens = 2;
  params.stop_token_ids = {3};
  const auto s = make(params, 5, {0, 0, 0}, {1});
  for (const std::int64_t position : {3, 4}) {
    floats logits(5);
    s.adjust(logits.data(), position);
    EXPECT_EQ(logits, (floats{0.0F, minus_infinity, 0.0F, minus_infinity, 0.0F}));
  }
  floats logits(5);
  s.adjust(logits.data(), 5);
  EXPECT_EQ(logits, floats(5));
}

TEST(sampler, adds_logit_bias_and_ignores_ids_outside_of_the_vocabulary) {
  auto params = seeded();
  params.logit_bias = {{1, 5.0F}, {-1, 5.0F}, {3, 5.0F}};
  floats logits(3);
  make(params, 3).adjust(logits.data(), 0);
  EXPECT_EQ(logits, (floats{0.0F, 5.0F, 0.0F}));
}

TEST(sampler, reports_log_probabilities_of_the_logits_as_they_came) {
  auto params = seeded();
  params.temperature = 0.0F;
  params.logit_bias = {{2, 100.0F}};
  params.logprobs = 2;
  floats logits = {1.0F, 3.0F, 0.0F, 3.0F};
  const auto choice = make(params, 4).choose(logits.data(), 0);
  const double total = std::exp(1.0) + 2.0 * std::exp(3.0) + 1.0;
  EXPECT_EQ(choice.id, 2);
  EXPECT_NEAR(choice.logprob, -std::log(total), 1e-6);
  ASSERT_EQ(choice.top.size(), 2U);
  EXPECT_EQ(choice.top[0].first, 1); // the lower id first on ties
  EXPECT_EQ(choice.top[1].first, 3);
  EXPECT_NEAR(choice.top[0].second, 3.0 - std::log(total), 1e-6);
}

TEST(sampler, gives_some_token_when_logits_are_not_numbers) {
  auto params = seeded();
  params.logprobs = 3;
  for (const float temperature : {0.0F, 1.0F}) {
    params.temperature = temperature;
    for (const int top_k : {0, 5})
      for (const float top_p : {1.0F, 0.5F}) {
        params.top_k = top_k;
        params.top_p = top_p;
        floats logits(100, std::numeric_limits<float>::quiet_NaN());
        const auto id = make(params, 100).choose(logits.data(), 0).id;
        EXPECT_TRUE(id >= 0 && id < 100);
      }
  }
}

TEST(philox, gives_the_published_numbers) {
  // Random123 known-answer test: counter 0, key 0.
  EXPECT_EQ(philox(0, 0), (std::array<std::uint32_t, 4>{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
}

} // namespace
} // namespace omni
