#pragma once

#include "kernels/runtime/batch.hpp"
#include "kernels/runtime/sampling_params.hpp"

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

namespace omni {

/// Tokens that may be drawn.
struct kept_tokens {
  bool all = false;              // every token; `ids` is empty then
  std::vector<std::int32_t> ids; // otherwise these, in one order that depends on the logits alone
};

/// Chooses the tokens of one sequence. The stages, in vLLM's order: logit_bias and the mask of min_tokens; repetition,
/// frequency and presence penalty; temperature; min_p; top_k, which keeps ties; top_p over what is left; the draw.
/// Log-probabilities are those of the logits as the model made them.
///
/// A draw depends on the logits, the seed and the number of tokens before it, nothing else.
class sampler {
public:
  /// `eos_ids` are masked, with the stop ids, while fewer than min_tokens tokens were made. Ids outside of
  /// [0, vocab) are ignored.
  sampler(const sampling_params& params, std::span<const std::int32_t> prompt, std::span<const std::int32_t> eos_ids,
          std::int32_t vocab);

  /// Takes note of tokens that were fed at `position` and after; those behind the prompt count as output, each once,
  /// even when an interrupted sequence is fed again.
  void fed(std::int64_t position, std::span<const std::int32_t> tokens);

  /// Chooses the token at `position` (of the sequence) from its logits [vocab], which are changed.
  [[nodiscard]] token_choice choose(float* logits, std::int64_t position) const;

  // The stages of `choose` one by one.
  /// Bias, masks and penalties, in place.
  void adjust(float* logits, std::int64_t position) const;
  /// What min_p, top_k and top_p leave of adjusted logits. Temperature must not be 0.
  [[nodiscard]] kept_tokens keep(const float* logits) const;

private:
  struct seen_token {
    bool in_prompt = false;
    std::int32_t outputs = 0;
  };

  [[nodiscard]] bool greedy() const { return params_.temperature < 1e-5F; }
  [[nodiscard]] bool has_penalties() const;
  [[nodiscard]] std::int64_t made_before(std::int64_t position) const;
  [[nodiscard]] std::int32_t draw(const float* logits, std::int64_t position) const;

  sampling_params params_;
  std::int32_t vocab_;
  std::int64_t prompt_tokens_;
  std::int64_t counted_to_; // positions below are counted
  std::vector<std::int32_t> masked_early_;
  std::unordered_map<std::int32_t, seen_token> seen_; // only if there are penalties
};

} // namespace omni
