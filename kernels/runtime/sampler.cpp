#include "kernels/runtime/sampler.hpp"

#include "kernels/core/check.hpp"
#include "kernels/runtime/philox.hpp"
#include "kernels/runtime/token_ranking.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace omni {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

/// The chosen token's log-probability and the best ones, from raw logits.
void add_logprobs(token_choice& choice, const logit_view& logits, float chosen_logit, std::int32_t best_count) {
  const double log_total = std::log(logits.total(1.0F));
  const auto logprob = [&](float logit) {
    return static_cast<float>(static_cast<double>(logit) - static_cast<double>(logits.largest()) - log_total);
  };
  choice.logprob = logprob(chosen_logit);
  for (const auto id : logits.best(best_count)) choice.top.emplace_back(id, logprob(logits[id]));
}

} // namespace

sampler::sampler(const sampling_params& params, std::span<const std::int32_t> prompt,
                 std::span<const std::int32_t> eos_ids, std::int32_t vocab)
    : params_(params), vocab_(vocab), prompt_tokens_(static_cast<std::int64_t>(prompt.size())),
      counted_to_(prompt_tokens_) {
  OMNI_CHECK(greedy() || params_.seed, "a sequence that is drawn has a seed");
  const auto known = [&](std::int32_t id) { return id >= 0 && id < vocab_; };
  std::erase_if(params_.logit_bias, [&](const auto& bias) { return !known(bias.first); });
  if (params_.min_tokens > 0) {
    std::copy_if(eos_ids.begin(), eos_ids.end(), std::back_inserter(masked_early_), known);
    std::copy_if(params_.stop_token_ids.begin(), params_.stop_token_ids.end(), std::back_inserter(masked_early_),
                 known);
  }
  if (!has_penalties()) return;
  for (const auto id : prompt)
    if (known(id)) seen_[id].in_prompt = true;
}

bool sampler::has_penalties() const {
  return params_.repetition_penalty != 1.0F || params_.presence_penalty != 0.0F || params_.frequency_penalty != 0.0F;
}

std::int64_t sampler::made_before(std::int64_t position) const { return position - prompt_tokens_; }

void sampler::fed(std::int64_t position, std::span<const std::int32_t> tokens) {
  const auto end = position + static_cast<std::int64_t>(tokens.size());
  if (has_penalties())
    for (auto p = std::max(position, counted_to_); p < end; ++p)
      ++seen_[tokens[static_cast<std::size_t>(p - position)]].outputs;
  counted_to_ = std::max(counted_to_, end);
}

void sampler::adjust(float* logits, std::int64_t position) const {
  for (const auto& [id, bias] : params_.logit_bias) logits[id] += bias;
  if (made_before(position) < params_.min_tokens)
    for (const auto id : masked_early_) logits[id] = minus_infinity;
  for (const auto& [id, seen] : seen_) {
    float& logit = logits[id];
    logit = logit > 0.0F ? logit / params_.repetition_penalty : logit * params_.repetition_penalty;
    logit -= params_.frequency_penalty * static_cast<float>(seen.outputs);
    if (seen.outputs > 0) logit -= params_.presence_penalty;
  }
}

kept_tokens sampler::keep(const float* logits) const {
  const logit_view view(logits, vocab_);
  const bool limits_k = params_.top_k > 0 && params_.top_k < vocab_;
  if (!limits_k && params_.min_p <= 0.0F && params_.top_p >= 1.0F) return {.all = true, .ids = {}};
  float lowest = minus_infinity; // of the logits that stay
  if (params_.min_p > 0.0F) lowest = view.largest() + params_.temperature * std::log(params_.min_p);
  if (limits_k) lowest = std::max(lowest, view.kth_largest(params_.top_k));
  if (params_.top_p >= 1.0F) return {.all = false, .ids = view.at_least(lowest)};
  return {.all = false, .ids = view.nucleus(params_.top_p, 1.0F / params_.temperature, lowest)};
}

std::int32_t sampler::draw(const float* logits, std::int64_t position) const {
  const logit_view view(logits, vocab_);
  if (greedy()) return view.first_best();
  const double u = uniform(*params_.seed, static_cast<std::uint64_t>(made_before(position)));
  const float inverse_temperature = 1.0F / params_.temperature;
  const kept_tokens kept = keep(logits);
  return kept.all ? view.pick(u, inverse_temperature) : view.pick(u, inverse_temperature, kept.ids);
}

token_choice sampler::choose(float* logits, std::int64_t position) const {
  token_choice choice;
  if (!params_.logprobs) {
    adjust(logits, position);
    choice.id = draw(logits, position);
    return choice;
  }
  std::vector<float> adjusted(logits, logits + vocab_);
  adjust(adjusted.data(), position);
  choice.id = draw(adjusted.data(), position);
  add_logprobs(choice, logit_view(logits, vocab_), logits[choice.id], *params_.logprobs);
  return choice;
}

} // namespace omni
