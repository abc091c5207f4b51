#include "kernels/ops/linear.hpp"

#include "kernels/ops/embed.hpp"
#include "test/support/compute_fixture.hpp"
#include "test/support/each_isa.hpp"
#include "test/support/op_cases.hpp"
#include "test/support/random_floats.hpp"
#include "test/support/random_weights.hpp"
#include "test/support/reference_ops.hpp"

#include <cstring>
#include <gtest/gtest.h>

namespace omni {
namespace {

using test::compute_fixture;
using test::linear_case;
using test::random_floats;
using test::random_matrix;

/// A case with everything that its op reads.
struct filled_case {
  linear_case c;
  random_matrix matrix, gate_matrix;
  std::vector<float> x, bias;
  weight_arena arena;
  packed_weight weight, gate;

  explicit filled_case(const linear_case& of)
      : c(of), matrix(c.type, c.out, c.in, 1), gate_matrix(c.type, c.out, c.in, 2), x(random_floats(c.rows * c.in, 3)),
        bias(random_floats(c.out, 4)) {
    weight = pack_weight(matrix.view(), false, arena);
    gate = pack_weight(gate_matrix.view(), false, arena);
    for (std::size_t i = 0; i < x.size(); i += 97) x[i] *= 40.0F; // some dwarf their block
  }

  [[nodiscard]] tensor rows() { return {x.data(), {c.rows, c.in}}; }
  /// The rows as the kernel sees them.
  [[nodiscard]] std::vector<float> seen_rows() const {
    return wants_quantised(weight) ? test::reference_quantised(x) : x;
  }
  [[nodiscard]] std::vector<double> product(const random_matrix& of, std::span<const float> added) const {
    return test::reference_linear(seen_rows(), of.values(), added, c.rows, c.out, c.in);
  }
};

std::vector<float> run(filled_case& one, compute_fixture& on, bool with_bias, bool gated) {
  std::vector<float> out(static_cast<std::size_t>(one.c.rows * one.c.out));
  const workspace::scope scope(on.scratch);
  const linear_input input = prepare_linear({one.rows(), wants_quantised(one.weight)}, on.context);
  const float* const bias = with_bias ? one.bias.data() : nullptr;
  linear_job job{{&input, &one.weight, bias}, {}, tensor(out.data(), {one.c.rows, one.c.out})};
  if (gated) job.gate = {&input, &one.gate, bias};
  linear(job, on.context);
  return out;
}

/// Tests skip the large shapes that only the benchmark is after.
template <class Body>
void for_each_case(Body&& body) {
  for (const auto& c : test::linear_cases) {
    if (c.timed) continue;
    SCOPED_TRACE(name_of(c));
    filled_case one(c);
    body(one);
  }
}

TEST(linear, equals_the_product_of_its_definition_on_every_isa) {
  compute_fixture on;
  for_each_case([&](filled_case& one) {
    const auto expected = one.product(one.matrix, {}), with_bias = one.product(one.matrix, one.bias);
    test::on_each_isa([&] {
      EXPECT_LE(test::relative_error(run(one, on, false, false), expected), 2e-5);
      EXPECT_LE(test::relative_error(run(one, on, true, false), with_bias), 2e-5);
    });
  });
}

TEST(linear, gates_with_silu_on_every_isa) {
  compute_fixture on;
  for_each_case([&](filled_case& one) {
    auto expected = one.product(one.matrix, one.bias);
    const auto gate = one.product(one.gate_matrix, one.bias);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] *= test::reference_silu(gate[i]);
    test::on_each_isa([&] { EXPECT_LE(test::relative_error(run(one, on, true, true), expected), 1e-4); });
  });
}

TEST(linear, gives_a_row_the_same_bits_whatever_rows_are_beside_it) {
  compute_fixture on, alone(1);
  for_each_case([&](filled_case& one) {
    test::on_each_isa([&] {
      const auto together = run(one, on, true, false);
      EXPECT_EQ(run(one, alone, true, false), together);
      filled_case single({one.c.type, 1, one.c.out, one.c.in});
      for (std::int64_t r = 0; r < one.c.rows; ++r) {
        std::copy_n(one.x.data() + r * one.c.in, one.c.in, single.x.data());
        const auto apart = run(single, alone, true, false);
        ASSERT_EQ(std::memcmp(apart.data(), together.data() + r * one.c.out, apart.size() * sizeof(float)), 0) << r;
      }
    });
  });
}

TEST(linear, computes_jobs_of_different_types_at_once) {
  compute_fixture on(3);
  filled_case a({dtype::q4_1, 5, 40, 64}), b({dtype::f16, 5, 17, 64});
  std::vector<float> out_a(5 * 40), out_b(5 * 17);
  const workspace::scope scope(on.scratch);
  const linear_input quantised = prepare_linear({a.rows(), true}, on.context),
                     plain = prepare_linear({b.rows(), false}, on.context);
  const linear_job jobs[] = {{{&quantised, &a.weight, nullptr}, {}, tensor(out_a.data(), {5, 40})},
                             {{&plain, &b.weight, nullptr}, {}, tensor(out_b.data(), {5, 17})}};
  linear(jobs, on.context);
  EXPECT_EQ(out_a, run(a, on, false, false));
  EXPECT_EQ(out_b, run(b, on, false, false));
}

TEST(linear, gates_weights_of_another_kind) {
  compute_fixture on;
  filled_case a({dtype::q8_0, 9, 33, 96}), b({dtype::f32, 9, 33, 96});
  b.x = a.x;
  std::vector<float> out(9 * 33);
  const workspace::scope scope(on.scratch);
  const linear_input quantised = prepare_linear({a.rows(), true}, on.context),
                     plain = prepare_linear({b.rows(), false}, on.context);
  linear({{&quantised, &a.weight, nullptr}, {&plain, &b.gate, nullptr}, tensor(out.data(), {9, 33})}, on.context);
  auto expected = a.product(a.matrix, {});
  const auto gate = b.product(b.gate_matrix, {});
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] *= test::reference_silu(gate[i]);
  EXPECT_LE(test::relative_error(out, expected), 1e-4);
}

TEST(linear, survives_rows_of_zeros) {
  compute_fixture on;
  filled_case one({dtype::q4_0, 2, 20, 64});
  std::fill(one.x.begin(), one.x.end(), 0.0F);
  test::on_each_isa([&] { EXPECT_EQ(run(one, on, false, false), std::vector<float>(40, 0.0F)); });
}

TEST(embed, reads_rows_of_every_type) {
  compute_fixture on;
  for_each_case([&](filled_case& one) {
    std::vector<std::int32_t> ids = {static_cast<std::int32_t>(one.c.out - 1), 0,
                                     static_cast<std::int32_t>(one.c.out / 2)};
    std::vector<float> out(3 * static_cast<std::size_t>(one.c.in));
    embed({&one.weight, tensor(ids.data(), {3}), tensor(out.data(), {3, one.c.in})}, on.context);
    const auto values = one.matrix.values();
    for (std::size_t i = 0; i < 3; ++i)
      for (std::int64_t k = 0; k < one.c.in; ++k)
        ASSERT_NEAR(out[i * static_cast<std::size_t>(one.c.in) + static_cast<std::size_t>(k)],
                    values[static_cast<std::size_t>(ids[i] * one.c.in + k)], 1e-6F);
  });
}

} // namespace
} // namespace omni
