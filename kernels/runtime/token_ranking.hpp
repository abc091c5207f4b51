#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace omni {

/// Questions about one row of logits that a sampler asks, answered without sorting a vocabulary. Groups of 64 logits
/// stand in for their largest one, so most logits are read once.
class logit_view {
public:
  /// `logits` [count] outlive the view and do not change.
  logit_view(const float* logits, std::int64_t count);

  [[nodiscard]] float operator[](std::int32_t id) const { return logits_[id]; }
  [[nodiscard]] float largest() const { return largest_; }
  /// The lowest id with the largest logit.
  [[nodiscard]] std::int32_t first_best() const;
  /// sum of e^((logit - largest) * scale)
  [[nodiscard]] double total(float scale) const;

  /// The k-th largest logit, 1 <= k <= count.
  [[nodiscard]] float kth_largest(std::int64_t k) const;
  /// Ids with logits of at least `lowest`, increasing. The largest logit is always among them.
  [[nodiscard]] std::vector<std::int32_t> at_least(float lowest) const;
  /// The `count` best ids, best first; the lower id first on ties.
  [[nodiscard]] std::vector<std::int32_t> best(std::int64_t count) const;
  /// Of the tokens with logits of at least `lowest`: the fewest best ones whose probability, with logits times `scale`,
  /// reaches `p`. At least one. Of equal logits, lower ids fall out first, as in the reference's ascending sort.
  [[nodiscard]] std::vector<std::int32_t> nucleus(float p, float scale, float lowest) const;

  /// The token where the cumulated probability exceeds u in [0, 1), over all tokens, or over `ids` in their order.
  [[nodiscard]] std::int32_t pick(double u, float scale) const;
  [[nodiscard]] std::int32_t pick(double u, float scale, std::span<const std::int32_t> ids) const;

private:
  [[nodiscard]] std::vector<float> weights(std::span<const std::int32_t> ids, float scale) const;

  const float* logits_;
  std::int64_t count_;
  float largest_;
  std::vector<float> group_largest_;
};

} // namespace omni
