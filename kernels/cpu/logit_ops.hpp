#pragma once

#include <cstdint>

namespace omni::cpu {

/// Logits are looked at in groups, so that a whole vocabulary is read once and only promising groups again.
inline constexpr std::int64_t logit_group = 64;
constexpr std::int64_t logit_groups(std::int64_t count) { return (count + logit_group - 1) / logit_group; }

/// Largest value of each group; most[g] covers x[64 g] .. x[64 g + 63], as far as they exist.
void group_maxima(const float* x, std::int64_t count, float* most);

/// sums[g] = sum over the group of e^((x - largest) * scale)
void group_exp_sums(const float* x, std::int64_t count, float largest, float scale, float* sums);

/// weights[i] = e^((x[i] - largest) * scale); may be in place.
void exp_weights(const float* x, std::int64_t count, float largest, float scale, float* weights);

} // namespace omni::cpu
