#include "kernels/ops/moe.hpp"
#include "kernels/ops/norm.hpp"
#include "test/support/compute_fixture.hpp"
#include "test/support/each_isa.hpp"
#include "test/support/random_floats.hpp"
#include "test/support/reference_ops.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace omni {
namespace {

using test::compute_fixture;
using test::random_floats;

std::vector<double> reference_norm(const std::vector<float>& x, const std::vector<float>& weight, double epsilon) {
  const std::size_t width = weight.size();
  std::vector<double> out(x.size());
  for (std::size_t row = 0; row < x.size(); row += width) {
    double squares = 0.0;
    for (std::size_t i = 0; i < width; ++i) squares += double{x[row + i]} * double{x[row + i]};
    const double factor = 1.0 / std::sqrt(squares / static_cast<double>(width) + epsilon);
    for (std::size_t i = 0; i < width; ++i) out[row + i] = double{x[row + i]} * factor * double{weight[i]};
  }
  return out;
}

TEST(rms_norm, equals_its_definition_on_every_isa) {
  compute_fixture on;
  for (const std::int64_t width : {1, 15, 16, 64, 100}) {
    SCOPED_TRACE(width);
    auto x = random_floats(5 * width, 1);
    const auto weight = random_floats(width, 2);
    const auto expected = reference_norm(x, weight, 1e-5);
    test::on_each_isa([&] {
      std::vector<float> out(x.size());
      rms_norm({tensor(x.data(), {5, width}), {}, weight.data(), 1e-5F, tensor(out.data(), {5, width})}, on.context);
      EXPECT_LE(test::relative_error(out, expected), 1e-5);
    });
  }
}

TEST(rms_norm, adds_to_the_residual_stream_first) {
  compute_fixture on;
  const std::int64_t width = 37;
  auto x = random_floats(3 * width, 1), added = random_floats(3 * width, 2);
  const auto weight = random_floats(width, 3);
  std::vector<float> sum(x.size()), out(x.size());
  std::transform(x.begin(), x.end(), added.begin(), sum.begin(), std::plus<>());
  rms_norm({tensor(x.data(), {3, width}), tensor(added.data(), {3, width}), weight.data(), 1e-6F,
            tensor(out.data(), {3, width})},
           on.context);
  EXPECT_EQ(x, sum);
  EXPECT_LE(test::relative_error(out, reference_norm(sum, weight, 1e-6)), 1e-5);
}

TEST(route, takes_the_best_and_the_lower_id_on_ties) {
  compute_fixture on;
  std::vector<float> logits = {0.0F, 2.0F, 1.0F, 2.0F, -1.0F};
  std::vector<std::int32_t> ids(3);
  std::vector<float> weights(3);
  const route_args args{tensor(logits.data(), {1, 5}), true, tensor(ids.data(), {1, 3}),
                        tensor(weights.data(), {1, 3})};
  test::on_each_isa([&] {
    logits = {0.0F, 2.0F, 1.0F, 2.0F, -1.0F};
    route(args, on.context);
    EXPECT_EQ(ids, (std::vector<std::int32_t>{1, 3, 2}));
    const double total = 2.0 + std::exp(-1.0);
    EXPECT_NEAR(weights[0], 1.0 / total, 1e-6);
    EXPECT_NEAR(weights[1], 1.0 / total, 1e-6);
    EXPECT_NEAR(weights[2], std::exp(-1.0) / total, 1e-6);
  });
}

TEST(route, keeps_shares_of_all_experts_when_not_normalised) {
  compute_fixture on;
  std::vector<float> logits = {1.0F, 0.0F, 0.0F, 0.0F};
  std::vector<std::int32_t> ids(1);
  std::vector<float> weights(1);
  route({tensor(logits.data(), {1, 4}), false, tensor(ids.data(), {1, 1}), tensor(weights.data(), {1, 1})}, on.context);
  EXPECT_NEAR(weights[0], std::exp(1.0) / (std::exp(1.0) + 3.0), 1e-6);
}

TEST(combine_experts, weighs_and_adds_the_slots_of_a_row) {
  compute_fixture on;
  std::vector<float> values = {1, 2, 10, 20, 100, 200, 1000, 2000}, weights = {0.5F, 2.0F, 1.0F, 3.0F}, out(4);
  std::vector<std::int32_t> slots = {3, 0, 1, 2};
  combine_experts({tensor(values.data(), {4, 2}),
                   tensor(slots.data(), {2, 2}),
                   tensor(weights.data(), {2, 2}),
                   {},
                   {},
                   tensor(out.data(), {2, 2})},
                  on.context);
  EXPECT_EQ(out, (std::vector<float>{502, 1004, 310, 620}));
}

TEST(combine_experts, adds_the_shared_expert_by_its_gate) {
  compute_fixture on;
  std::vector<float> values = {1, 2, 10, 20}, weights = {2.0F, 1.0F}, shared = {4, 8, 100, 200}, gate = {0, 50}, out(4);
  std::vector<std::int32_t> slots = {0, 1};
  combine_experts({tensor(values.data(), {2, 2}), tensor(slots.data(), {2, 1}), tensor(weights.data(), {2, 1}),
                   tensor(shared.data(), {2, 2}), tensor(gate.data(), {2, 1}), tensor(out.data(), {2, 2})},
                  on.context);
  EXPECT_EQ(out, (std::vector<float>{4, 8, 110, 220}));
}

} // namespace
} // namespace omni
