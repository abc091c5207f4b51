#include "kernels/runtime/token_ranking.hpp"

#include "kernels/cpu/logit_ops.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

namespace omni {
namespace {

constexpr float minus_infinity = -std::numeric_limits<float>::infinity();

/// The first index where the running sum of `weights` exceeds `point`; the last one that weighs anything if rounding
/// leaves none.
template <class Weights>
std::size_t where_exceeded(const Weights& weights, double& point) {
  std::size_t last = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto weight = static_cast<double>(weights[i]);
    if (weight > 0.0) last = i;
    if (weight > point) return i;
    point -= weight;
  }
  point = std::numeric_limits<double>::max(); // beyond the end of `last`, too
  return last;
}

double sum(std::span<const float> weights) { return std::accumulate(weights.begin(), weights.end(), 0.0); }

} // namespace

logit_view::logit_view(const float* logits, std::int64_t count)
    : logits_(logits), count_(count), group_largest_(static_cast<std::size_t>(cpu::logit_groups(count))) {
  cpu::group_maxima(logits, count, group_largest_.data());
  largest_ = *std::max_element(group_largest_.begin(), group_largest_.end());
}

std::int32_t logit_view::first_best() const {
  const auto group = std::find(group_largest_.begin(), group_largest_.end(), largest_) - group_largest_.begin();
  const auto* const end = logits_ + count_;
  const auto* const found = std::find(logits_ + std::min(group * cpu::logit_group, count_), end, largest_);
  return found == end ? 0 : static_cast<std::int32_t>(found - logits_); // not found: not a number at all
}

double logit_view::total(float scale) const {
  std::vector<float> sums(group_largest_.size());
  cpu::group_exp_sums(logits_, count_, largest_, scale, sums.data());
  return sum(sums);
}

std::vector<std::int32_t> logit_view::at_least(float lowest) const {
  lowest = std::min(lowest, largest_);
  std::vector<std::int32_t> ids;
  for (std::size_t g = 0; g < group_largest_.size(); ++g) {
    if (group_largest_[g] < lowest) continue;
    const std::int64_t first = static_cast<std::int64_t>(g) * cpu::logit_group;
    for (std::int64_t i = first; i < std::min(first + cpu::logit_group, count_); ++i)
      if (logits_[i] >= lowest) ids.push_back(static_cast<std::int32_t>(i));
  }
  if (ids.empty()) ids.push_back(0); // not a number at all
  return ids;
}

float logit_view::kth_largest(std::int64_t k) const {
  std::vector<float> values;
  if (k <= static_cast<std::int64_t>(group_largest_.size())) {
    // k groups reach the k-th largest of their maxima, so k logits do: only logits from there on can matter.
    values = group_largest_;
    std::nth_element(values.begin(), values.begin() + (k - 1), values.end(), std::greater<>());
    const auto ids = at_least(values[static_cast<std::size_t>(k - 1)]);
    values.clear();
    for (const auto id : ids) values.push_back(logits_[id]);
  } else {
    values.assign(logits_, logits_ + count_);
  }
  if (k > static_cast<std::int64_t>(values.size())) return minus_infinity; // some are not numbers
  std::nth_element(values.begin(), values.begin() + (k - 1), values.end(), std::greater<>());
  return values[static_cast<std::size_t>(k - 1)];
}

std::vector<std::int32_t> logit_view::best(std::int64_t count) const {
  count = std::min(count, count_);
  if (count <= 0) return {};
  auto ids = at_least(kth_largest(count));
  std::stable_sort(ids.begin(), ids.end(), [&](auto a, auto b) { return logits_[a] > logits_[b]; });
  ids.resize(std::min(ids.size(), static_cast<std::size_t>(count)));
  return ids;
}

std::vector<float> logit_view::weights(std::span<const std::int32_t> ids, float scale) const {
  std::vector<float> values(ids.size());
  for (std::size_t i = 0; i < ids.size(); ++i) values[i] = logits_[ids[i]];
  cpu::exp_weights(values.data(), static_cast<std::int64_t>(values.size()), largest_, scale, values.data());
  return values;
}

std::vector<std::int32_t> logit_view::nucleus(float p, float scale, float lowest) const {
  std::vector<std::int32_t> ids;
  double all = 0.0;
  if (lowest == minus_infinity) {
    all = total(scale);
    // Few tokens carry most of the probability: try those of at least 1e-3 of the best one's, then 1e-6, then all.
    for (const float bar : {std::log(1e-3F), std::log(1e-6F), minus_infinity}) {
      ids = at_least(largest_ + bar / scale);
      if (sum(weights(ids, scale)) >= static_cast<double>(p) * all) break;
    }
  } else {
    ids = at_least(lowest);
    all = sum(weights(ids, scale));
  }
  std::sort(ids.begin(), ids.end(),
            [&](auto a, auto b) { return logits_[a] > logits_[b] || (logits_[a] == logits_[b] && a > b); });
  const auto weight = weights(ids, scale);
  double before = 0.0;
  std::size_t kept = 0;
  while (kept < ids.size() && (kept == 0 || before < static_cast<double>(p) * all))
    before += static_cast<double>(weight[kept++]);
  ids.resize(kept);
  return ids;
}

std::int32_t logit_view::pick(double u, float scale) const {
  std::vector<float> sums(group_largest_.size());
  cpu::group_exp_sums(logits_, count_, largest_, scale, sums.data());
  double point = u * sum(sums);
  const auto first = static_cast<std::int64_t>(where_exceeded(sums, point)) * cpu::logit_group;
  float weight[cpu::logit_group];
  const std::int64_t size = std::min(cpu::logit_group, count_ - first);
  cpu::exp_weights(logits_ + first, size, largest_, scale, weight);
  return static_cast<std::int32_t>(
      first + static_cast<std::int64_t>(where_exceeded(std::span(weight, static_cast<std::size_t>(size)), point)));
}

std::int32_t logit_view::pick(double u, float scale, std::span<const std::int32_t> ids) const {
  const auto weight = weights(ids, scale);
  double point = u * sum(weight);
  return ids[where_exceeded(weight, point)];
}

} // namespace omni
