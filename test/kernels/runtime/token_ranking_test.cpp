#include "kernels/runtime/token_ranking.hpp"

#include "test/support/each_isa.hpp"
#include "test/support/random_floats.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

namespace omni {
namespace {

using ids = std::vector<std::int32_t>;

/// All ids, best first; lower ids first on ties.
ids sorted(const std::vector<float>& logits) {
  ids all(logits.size());
  std::iota(all.begin(), all.end(), 0);
  std::stable_sort(all.begin(), all.end(), [&](auto a, auto b) {
    return logits[static_cast<std::size_t>(a)] > logits[static_cast<std::size_t>(b)];
  });
  return all;
}

/// Rows of several lengths, with and without many ties.
template <class Body>
void for_each_row(Body&& body) {
  test::on_each_isa([&] {
    for (const std::int64_t count : {1, 2, 63, 64, 65, 127, 1000, 5000})
      for (const bool ties : {false, true}) {
        SCOPED_TRACE(std::to_string(count) + (ties ? " with ties" : ""));
        auto logits = test::random_floats(count, static_cast<std::uint32_t>(count));
        for (float& l : logits) l = ties ? std::round(l * 5.0F) : l * 8.0F;
        body(logits, logit_view(logits.data(), count));
      }
  });
}

TEST(logit_view, ranks_like_a_full_sort) {
  for_each_row([](const std::vector<float>& logits, const logit_view& view) {
    const auto all = sorted(logits);
    EXPECT_EQ(view.first_best(), all.front());
    EXPECT_EQ(view.largest(), logits[static_cast<std::size_t>(all.front())]);
    for (const std::size_t k : {1UL, 2UL, 7UL, 50UL, 999UL}) {
      if (k > logits.size()) continue;
      EXPECT_EQ(view.kth_largest(static_cast<std::int64_t>(k)), logits[static_cast<std::size_t>(all[k - 1])]) << k;
      EXPECT_EQ(view.best(static_cast<std::int64_t>(k)), ids(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(k)))
          << k;
    }
    EXPECT_EQ(view.best(0), ids());
    EXPECT_EQ(view.best(static_cast<std::int64_t>(logits.size()) + 5), all);
  });
}

TEST(logit_view, finds_all_logits_above_a_bar) {
  for_each_row([](const std::vector<float>& logits, const logit_view& view) {
    for (const float bar : {-100.0F, -1.0F, 0.0F, 2.0F, 100.0F}) {
      ids expected;
      for (std::size_t i = 0; i < logits.size(); ++i)
        if (logits[i] >= std::min(bar, view.largest())) expected.push_back(static_cast<std::int32_t>(i));
      EXPECT_EQ(view.at_least(bar), expected);
    }
  });
}

TEST(logit_view, sums_like_double_precision) {
  for_each_row([](const std::vector<float>& logits, const logit_view& view) {
    double expected = 0.0;
    for (const float l : logits) expected += std::exp(0.7 * (double{l} - double{view.largest()}));
    EXPECT_NEAR(view.total(0.7F) / expected, 1.0, 1e-6);
  });
}

TEST(logit_view, keeps_the_smallest_nucleus) {
  for_each_row([](const std::vector<float>& logits, const logit_view& view) {
    const auto weight = [&](std::int32_t id) {
      return std::exp(0.5 * (double{logits[static_cast<std::size_t>(id)]} - double{view.largest()}));
    };
    double total = 0.0;
    for (std::size_t i = 0; i < logits.size(); ++i) total += weight(static_cast<std::int32_t>(i));
    for (const float p : {0.01F, 0.5F, 0.9F, 0.999F}) {
      const auto kept = view.nucleus(p, 0.5F, -std::numeric_limits<float>::infinity());
      double mass = 0.0;
      for (const auto id : kept) mass += weight(id);
      EXPECT_GE(mass, (p - 1e-5) * total);
      if (kept.size() > 1) {
        EXPECT_LT(mass - weight(kept.back()), (p + 1e-5) * total);
      }
      // Nothing outside is better than anything inside.
      ids inside = kept;
      std::sort(inside.begin(), inside.end());
      for (std::size_t i = 0; i < logits.size(); ++i)
        if (!std::binary_search(inside.begin(), inside.end(), static_cast<std::int32_t>(i))) {
          EXPECT_LE(logits[i], logits[static_cast<std::size_t>(kept.back())]);
        }
    }
  });
}

TEST(logit_view, picks_where_the_cumulated_probability_passes_the_point) {
  const std::vector<float> logits = {std::log(1.0F), std::log(2.0F), std::log(5.0F),
                                     -std::numeric_limits<float>::infinity()};
  const logit_view view(logits.data(), 4);
  EXPECT_EQ(view.pick(0.0, 1.0F), 0);
  EXPECT_EQ(view.pick(0.124, 1.0F), 0);
  EXPECT_EQ(view.pick(0.126, 1.0F), 1);
  EXPECT_EQ(view.pick(0.376, 1.0F), 2);
  EXPECT_EQ(view.pick(1.0 - 0x1p-53, 1.0F), 2); // never a token of no probability
  EXPECT_EQ(view.pick(0.70, 1.0F, ids{2, 1}), 2);
  EXPECT_EQ(view.pick(0.72, 1.0F, ids{2, 1}), 1);
}

} // namespace
} // namespace omni
