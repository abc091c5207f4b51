// Identities that layers must fulfil whatever their weights are.
#include "kernels/layers/mlp_layer.hpp"

#include "test/support/compute_fixture.hpp"
#include "test/support/random_floats.hpp"
#include "test/support/random_weights.hpp"
#include "test/support/reference_ops.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

using test::compute_fixture;
using test::random_floats;
using test::random_matrix;

constexpr std::int64_t hidden = 64, width = 96, rows = 11;

linear_weights random_linear(dtype type, std::int64_t out, std::int64_t in, std::uint32_t seed, weight_arena& arena) {
  return {pack_weight(random_matrix(type, out, in, seed).view(), false, arena), nullptr};
}

gated_mlp_weights random_mlp(dtype type, std::uint32_t seed, weight_arena& arena) {
  return {random_linear(type, width, hidden, seed, arena), random_linear(type, width, hidden, seed + 1, arena),
          random_linear(type, hidden, width, seed + 2, arena)};
}

std::vector<float> run(const mlp_config& config, const mlp_weights& weights, compute_fixture& on) {
  auto x = random_floats(rows * hidden, 50);
  std::vector<float> out(x.size());
  const workspace::scope scope(on.scratch);
  linear_rows input(tensor(x.data(), {rows, hidden}), on.context);
  mlp_layer(input, tensor(out.data(), {rows, hidden}), config, weights, {}, on.context);
  return out;
}

TEST(mlp_layer, with_equal_experts_is_the_dense_layer) {
  for (const auto type : {dtype::f32, dtype::q4_1}) {
    compute_fixture on;
    weight_arena arena;
    mlp_weights dense, moe;
    dense.dense = random_mlp(type, 1, arena);
    moe.router = random_linear(dtype::f32, 4, hidden, 9, arena);
    for (int e = 0; e < 4; ++e) moe.experts.push_back(random_mlp(type, 1, arena));
    mlp_config dense_config, moe_config;
    dense_config.width = moe_config.width = width;
    moe_config.experts = moe_config.top = 4; // all of them: the shares sum to one
    const auto expected = run(dense_config, dense, on);
    EXPECT_LE(test::relative_error(run(moe_config, moe, on), std::vector<double>(expected.begin(), expected.end())),
              1e-5);
  }
}

TEST(mlp_layer, weighs_only_the_chosen_expert) {
  compute_fixture on;
  weight_arena arena;
  mlp_weights moe;
  moe.router = random_linear(dtype::f32, 3, hidden, 9, arena);
  for (std::uint32_t e = 0; e < 3; ++e) moe.experts.push_back(random_mlp(dtype::f32, 10 * e, arena));
  mlp_config config;
  config.width = width;
  config.experts = 3;
  config.top = 1;
  config.normalise_top = true; // a single expert then has weight one
  const auto out = run(config, moe, on);
  std::vector<std::vector<float>> apart;
  for (const auto& expert : moe.experts) {
    mlp_weights dense;
    dense.dense = expert;
    mlp_config dense_config;
    dense_config.width = width;
    apart.push_back(run(dense_config, dense, on));
  }
  for (std::int64_t r = 0; r < rows; ++r) {
    const auto row = [&](const std::vector<float>& all) {
      return std::vector<float>(all.begin() + r * hidden, all.begin() + (r + 1) * hidden);
    };
    EXPECT_TRUE(row(out) == row(apart[0]) || row(out) == row(apart[1]) || row(out) == row(apart[2])) << r;
  }
}

} // namespace
} // namespace omni
