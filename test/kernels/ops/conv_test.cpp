#include "kernels/ops/conv.hpp"

#include "kernels/ops/conv_pointwise.hpp"
#include "kernels/ops/relative_attention.hpp"
#include "test/support/compute_fixture.hpp"
#include "test/support/each_isa.hpp"
#include "test/support/golden.hpp"
#include "test/support/random_floats.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <gtest/gtest.h>
#include <hwy/targets.h>
#include <numbers>
#include <string>
#include <vector>

namespace omni {
namespace {

using floats = std::vector<float>;
using device = test::compute_fixture;
using test::random_floats;

struct conv_case {
  std::int64_t rows, in, out, taps, dilation;
};
std::string name_of(const conv_case& c) {
  return std::to_string(c.rows) + " rows " + std::to_string(c.in) + "->" + std::to_string(c.out) + " taps " +
         std::to_string(c.taps) + " dilation " + std::to_string(c.dilation);
}

// Odd sizes on purpose: short of a panel, of a register block, of a vector, and past them.
const conv_case cases[] = {{1, 1, 1, 1, 1},    {5, 3, 2, 3, 1},     {12, 16, 32, 1, 1},
                           {13, 7, 33, 5, 2},  {64, 24, 64, 7, 3},  {100, 32, 29, 3, 1},
                           {37, 48, 96, 2, 1}, {250, 8, 31, 7, 12}, {1000, 32, 32, 3, 2}};

struct filled_case {
  conv_case c;
  floats x, weight, bias, residual;
  conv_weights packed;
  explicit filled_case(const conv_case& shape_of_it) : c(shape_of_it) {
    x = random_floats((c.rows + (c.taps - 1) * c.dilation) * c.in, 1);
    weight = random_floats(c.out * c.in * c.taps, 2);
    bias = random_floats(c.out, 3);
    residual = random_floats(c.rows * c.out, 4);
    packed = pack_conv(weight, bias, {c.out, c.in, c.taps}, c.dilation);
  }
  [[nodiscard]] conv_job job(float* out) const {
    conv_args a;
    a.x = x.data(), a.x_stride = c.in, a.rows = c.rows, a.out = out, a.out_stride = c.out;
    return {conv_panels(packed), a};
  }
  [[nodiscard]] floats reference() const {
    floats y(static_cast<std::size_t>(c.rows * c.out));
    for (std::int64_t t = 0; t < c.rows; ++t)
      for (std::int64_t o = 0; o < c.out; ++o) {
        double sum = bias[static_cast<std::size_t>(o)];
        for (std::int64_t k = 0; k < c.taps; ++k)
          for (std::int64_t i = 0; i < c.in; ++i)
            sum += double{weight[static_cast<std::size_t>((o * c.in + i) * c.taps + k)]} *
                   double{x[static_cast<std::size_t>((t + k * c.dilation) * c.in + i)]};
        y[static_cast<std::size_t>(t * c.out + o)] = static_cast<float>(sum);
      }
    return y;
  }
};

void expect_close(const floats& got, const floats& want) {
  ASSERT_EQ(got.size(), want.size());
  EXPECT_LE(test::relative_max(got.data(), want.data(), static_cast<std::int64_t>(want.size())), 1e-5);
}

TEST(conv, equals_the_sum_of_its_definition) {
  device on(2);
  for (const auto& c : cases) {
    SCOPED_TRACE(name_of(c));
    const filled_case one(c);
    floats out(one.residual.size());
    conv(one.job(out.data()), on.context);
    expect_close(out, one.reference());
  }
}

TEST(conv, adds_scales_and_activates) {
  device on(2);
  for (const auto& c : cases) {
    SCOPED_TRACE(name_of(c));
    const filled_case one(c);
    floats out(one.residual.size());
    floats activated(out.size());
    auto job = one.job(out.data());
    job.a.residual = one.residual.data();
    job.a.scale = 0.25F;
    job.a.activated = activated.data();
    job.a.slope = 0.1F;
    conv(job, on.context);
    auto want = one.reference();
    for (std::size_t i = 0; i < want.size(); ++i) want[i] = (want[i] + one.residual[i]) * 0.25F;
    expect_close(out, want);
    for (std::size_t i = 0; i < out.size(); ++i) EXPECT_EQ(activated[i], out[i] > 0 ? out[i] : out[i] * 0.1F);
  }
}

TEST(conv, gives_the_same_bits_however_rows_are_cut_and_shared) {
  for (const auto& c : cases) {
    SCOPED_TRACE(name_of(c));
    const filled_case one(c);
    device alone(1);
    floats whole(one.residual.size());
    conv(one.job(whole.data()), alone.context);
    device many(3);
    for (const std::int64_t piece : {1, 3, 8, 50}) {
      floats cut(whole.size());
      for (std::int64_t row = 0; row < c.rows; row += piece) {
        auto job = one.job(cut.data() + row * c.out);
        job.a.x += row * c.in;
        job.a.rows = std::min(piece, c.rows - row);
        conv(job, many.context);
      }
      EXPECT_EQ(cut, whole) << piece;
    }
  }
}

TEST(conv, is_right_with_every_instruction_set_of_this_machine) {
  // From the best one down: what is disabled first is what was chosen before.
  std::int64_t disabled = 0;
  for (int round = 0; round < 8; ++round) {
    hwy::DisableTargets(disabled);
    hwy::GetChosenTarget().DeInit();
    device on(2);
    for (const auto& c : cases) {
      SCOPED_TRACE(name_of(c) + " without " + std::to_string(disabled));
      const filled_case one(c);
      floats out(one.residual.size());
      conv(one.job(out.data()), on.context);
      expect_close(out, one.reference());
    }
    const auto supported = hwy::SupportedTargets();
    if ((supported & (supported - 1)) == 0) break;
    disabled |= supported & -supported; // better sets have lower bits
  }
  hwy::DisableTargets(0);
  hwy::GetChosenTarget().DeInit();
}

TEST(conv, computes_several_jobs_at_once) {
  device on(2);
  const filled_case a({70, 16, 40, 3, 1});
  const filled_case b({9, 5, 70, 1, 1});
  floats out_a(a.residual.size());
  floats out_b(b.residual.size());
  const conv_job jobs[] = {a.job(out_a.data()), b.job(out_b.data())};
  conv(jobs, on.context);
  expect_close(out_a, a.reference());
  expect_close(out_b, b.reference());
}

TEST(conv, sums_up_several_with_their_residuals) {
  device on(2);
  for (const std::int64_t out : {1, 32, 40}) {
    const filled_case a({77, 16, out, 3, 1});
    const filled_case b({77, 16, out, 7, 2});
    const filled_case c({77, 5, out, 1, 1});
    floats got(a.residual.size());
    conv_job jobs[] = {a.job(nullptr), b.job(nullptr), c.job(got.data())};
    jobs[0].a.residual = a.residual.data();
    jobs[1].a.residual = b.residual.data();
    jobs[2].a.scale = 0.5F;
    conv_sum(jobs, on.context);
    auto want = a.reference();
    const auto second = b.reference();
    const auto third = c.reference();
    for (std::size_t i = 0; i < want.size(); ++i)
      want[i] = (want[i] + second[i] + third[i] + a.residual[i] + b.residual[i]) * 0.5F;
    expect_close(got, want);
  }
}

TEST(conv, transposed_writes_a_row_for_each_phase) {
  device on(2);
  struct transposed_case {
    std::int64_t rows, in, out, kernel, stride;
  };
  for (const auto& c : {transposed_case{9, 6, 5, 8, 4}, {20, 16, 8, 16, 8}, {7, 3, 4, 9, 3}, {11, 4, 6, 5, 3}}) {
    SCOPED_TRACE(c.kernel);
    const auto weight = random_floats(c.in * c.out * c.kernel, 7);
    const auto bias = random_floats(c.out, 8);
    const auto packed = pack_transposed_conv(weight, bias, {c.in, c.out, c.kernel}, c.stride);
    const auto before = packed.taps - 1;
    floats x(static_cast<std::size_t>((c.rows + 2 * before) * c.in)); // zeros around the rows
    const auto values = random_floats(c.rows * c.in, 9);
    std::copy(values.begin(), values.end(), x.begin() + before * c.in);
    const auto rows = c.rows + before;
    floats out(static_cast<std::size_t>(rows * c.stride * c.out));
    conv_args a;
    a.x = x.data(), a.x_stride = c.in, a.rows = rows, a.out = out.data(), a.out_stride = c.stride * c.out;
    conv({conv_panels(packed), a}, on.context);
    floats want(out.size());
    for (std::size_t i = 0; i < want.size(); ++i) want[i] = bias[i % static_cast<std::size_t>(c.out)];
    for (std::int64_t t = 0; t < c.rows; ++t)
      for (std::int64_t k = 0; k < c.kernel; ++k)
        for (std::int64_t i = 0; i < c.in; ++i)
          for (std::int64_t o = 0; o < c.out; ++o)
            want[static_cast<std::size_t>((t * c.stride + k) * c.out + o)] +=
                values[static_cast<std::size_t>(t * c.in + i)] *
                weight[static_cast<std::size_t>((i * c.out + o) * c.kernel + k)];
    expect_close(out, want);
  }
}

TEST(conv, to_mono_is_a_dot_product_through_tanh) {
  device on(2);
  for (const std::int64_t in : {5, 16, 32}) {
    constexpr std::int64_t taps = 7;
    constexpr std::int64_t rows = 101;
    const auto weight = random_floats(in * taps, 1);
    const auto x = random_floats((rows + taps - 1) * in, 2);
    const auto packed = pack_conv_to_mono(weight, 0.25F, in, taps);
    floats out(rows);
    conv_to_mono({&packed, x.data(), rows, out.data()}, on.context);
    floats want(rows);
    for (std::int64_t t = 0; t < rows; ++t) {
      double sum = 0.25;
      for (std::int64_t k = 0; k < taps; ++k)
        for (std::int64_t i = 0; i < in; ++i)
          sum += double{weight[static_cast<std::size_t>(i * taps + k)]} *
                 double{x[static_cast<std::size_t>((t + k) * in + i)]};
      want[static_cast<std::size_t>(t)] = static_cast<float>(std::tanh(sum));
    }
    expect_close(out, want);
    floats cut(rows);
    for (std::int64_t t = 0; t < rows; t += 3)
      conv_to_mono({&packed, x.data() + t * in, std::min<std::int64_t>(3, rows - t), cut.data() + t}, on.context);
    EXPECT_EQ(cut, out);
  }
}

TEST(conv, to_mono_can_be_limited) {
  device on(2);
  const floats weight{2.0F}, x{-1.0F, -0.25F, 0.0F, 0.25F, 1.0F};
  const auto packed = pack_conv_to_mono(weight, 0.0F, 1, 1);
  floats out(x.size());
  conv_to_mono({&packed, x.data(), 5, out.data(), true}, on.context);
  EXPECT_EQ(out, (floats{-1.0F, -0.5F, 0.0F, 0.5F, 1.0F}));
}

TEST(conv, depthwise_keeps_channels_apart) {
  device on(2);
  for (const std::int64_t channels : {3, 16, 50}) {
    constexpr std::int64_t taps = 3;
    constexpr std::int64_t rows = 40;
    constexpr std::int64_t dilation = 9;
    const auto weight = random_floats(channels * taps, 1);
    const auto bias = random_floats(channels, 2);
    const auto x = random_floats((rows + 2 * dilation) * channels, 3);
    const auto packed = pack_depthwise(weight, bias, channels, taps, dilation);
    floats out(static_cast<std::size_t>(rows * channels));
    conv_depthwise({&packed, x.data(), rows, out.data()}, on.context);
    floats want(out.size());
    for (std::int64_t t = 0; t < rows; ++t)
      for (std::int64_t c = 0; c < channels; ++c) {
        double sum = bias[static_cast<std::size_t>(c)];
        for (std::int64_t k = 0; k < taps; ++k)
          sum += double{weight[static_cast<std::size_t>(c * taps + k)]} *
                 double{x[static_cast<std::size_t>((t + k * dilation) * channels + c)]};
        want[static_cast<std::size_t>(t * channels + c)] = static_cast<float>(sum);
      }
    expect_close(out, want);
  }
}

double reference_activation(activation f, double x, double rate, double gain) {
  switch (f) {
  case activation::gelu:
    return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0)));
  case activation::gelu_tanh:
    return x * 0.5 * (1 + std::tanh(std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x * x * x)));
  case activation::silu:
    return x / (1 + std::exp(-x));
  default:
    return x + std::pow(std::sin(rate * x), 2) * gain;
  }
}

TEST(activate, follows_its_formula_on_every_isa) {
  device on(2);
  constexpr std::int64_t rows = 30;
  for (const auto f : {activation::gelu, activation::gelu_tanh, activation::silu, activation::snake})
    for (const std::int64_t channels : {5, 16, 50}) {
      auto x = random_floats(rows * channels, 1);
      for (auto& v : x) v *= 8.0F;
      const auto rate = random_floats(channels, 2), gain = random_floats(channels, 3);
      floats want(x.size());
      for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t c = i % static_cast<std::size_t>(channels);
        want[i] = static_cast<float>(reference_activation(f, x[i], rate[c], gain[c]));
      }
      test::on_each_isa([&] {
        floats out(x.size());
        activate({f, x.data(), out.data(), rows, channels, rate.data(), gain.data()}, on.context);
        expect_close(out, want);
      });
    }
}

TEST(layer_norm, keeps_the_sum_that_it_norms) {
  device on(2);
  constexpr std::int64_t rows = 7, channels = 21;
  auto x = random_floats(rows * channels, 1);
  const auto add = random_floats(rows * channels, 2), gamma = random_floats(channels, 3),
             beta = random_floats(channels, 4);
  floats sum(x.size()), expected(x.size()), out(x.size());
  std::transform(x.begin(), x.end(), add.begin(), sum.begin(), std::plus<>());
  layer_norm({.x = sum.data(),
              .gamma = gamma.data(),
              .beta = beta.data(),
              .out = expected.data(),
              .rows = rows,
              .channels = channels,
              .epsilon = 0.25F},
             on.context);
  layer_norm({.x = x.data(),
              .add = add.data(),
              .gamma = gamma.data(),
              .beta = beta.data(),
              .out = out.data(),
              .rows = rows,
              .channels = channels,
              .epsilon = 0.25F,
              .sum = x.data()},
             on.context);
  EXPECT_EQ(x, sum);
  EXPECT_EQ(out, expected);
}

TEST(layer_norm, follows_its_formula) {
  device on(2);
  constexpr std::int64_t rows = 30;
  for (const std::int64_t channels : {5, 16, 50, 192}) {
    const auto x = random_floats(rows * channels, 1);
    const auto add = random_floats(rows * channels, 2);
    const auto gamma = random_floats(channels, 3);
    const auto beta = random_floats(channels, 4);
    floats out(x.size());
    layer_norm({x.data(), add.data(), gamma.data(), beta.data(), true, x.data(), out.data(), rows, channels},
               on.context);
    floats want(x.size());
    for (std::int64_t t = 0; t < rows; ++t) {
      const auto at = [&](std::int64_t c) { return static_cast<std::size_t>(t * channels + c); };
      double mean = 0;
      double variance = 0;
      for (std::int64_t c = 0; c < channels; ++c) mean += (double{x[at(c)]} + add[at(c)]) / double(channels);
      for (std::int64_t c = 0; c < channels; ++c)
        variance += std::pow(double{x[at(c)]} + add[at(c)] - mean, 2) / double(channels);
      for (std::int64_t c = 0; c < channels; ++c) {
        const double v = (double{x[at(c)]} + add[at(c)] - mean) / std::sqrt(variance + 1e-5);
        const double y = v * gamma[static_cast<std::size_t>(c)] + beta[static_cast<std::size_t>(c)];
        want[at(c)] = static_cast<float>(x[at(c)] + y * 0.5 * (1 + std::erf(y / std::sqrt(2.0))));
      }
    }
    expect_close(out, want);
  }
}

TEST(tanh_sigmoid_gate, multiplies_the_halves) {
  device on(2);
  constexpr std::int64_t rows = 33;
  for (const std::int64_t channels : {7, 16, 192}) {
    auto in = random_floats(rows * 2 * channels, 1);
    for (auto& value : in) value *= 8;
    floats out(static_cast<std::size_t>(rows * channels));
    tanh_sigmoid_gate({in.data(), out.data(), rows, channels}, on.context);
    floats want(out.size());
    for (std::int64_t t = 0; t < rows; ++t)
      for (std::int64_t c = 0; c < channels; ++c) {
        const double left = in[static_cast<std::size_t>(t * 2 * channels + c)];
        const double right = in[static_cast<std::size_t>(t * 2 * channels + channels + c)];
        want[static_cast<std::size_t>(t * channels + c)] = static_cast<float>(std::tanh(left) / (1 + std::exp(-right)));
      }
    expect_close(out, want);
  }
}

TEST(relative_attention, adds_positions_near_the_diagonal) {
  device on(2);
  constexpr std::int64_t heads = 2;
  constexpr std::int64_t window = 4;
  for (const std::int64_t rows : {1, 3, 60, 131}) {
    for (const std::int64_t dim : {8, 48}) {
      SCOPED_TRACE(rows);
      const auto width = heads * dim;
      const auto q = random_floats(rows * width, 1);
      const auto k = random_floats(rows * width, 2);
      const auto v = random_floats(rows * width, 3);
      const auto rk = random_floats((2 * window + 1) * dim, 4);
      const auto rv = random_floats((2 * window + 1) * dim, 5);
      floats out(q.size());
      relative_attention({q.data(), k.data(), v.data(), rk.data(), rv.data(), out.data(), rows, heads, dim, window},
                         on.context);
      floats want(q.size());
      for (std::int64_t h = 0; h < heads; ++h)
        for (std::int64_t i = 0; i < rows; ++i) {
          const auto at = [&](const floats& m, std::int64_t row, std::int64_t c) {
            return double{m[static_cast<std::size_t>(row * width + h * dim + c)]};
          };
          const auto relative = [&](const floats& m, std::int64_t j, std::int64_t c) {
            return std::abs(j - i) > window ? 0.0 : double{m[static_cast<std::size_t>((j - i + window) * dim + c)]};
          };
          std::vector<double> p(static_cast<std::size_t>(rows));
          double total = 0;
          for (std::int64_t j = 0; j < rows; ++j) {
            double score = 0;
            for (std::int64_t c = 0; c < dim; ++c) score += at(q, i, c) * (at(k, j, c) + relative(rk, j, c));
            total += p[static_cast<std::size_t>(j)] = std::exp(score);
          }
          for (std::int64_t c = 0; c < dim; ++c) {
            double sum = 0;
            for (std::int64_t j = 0; j < rows; ++j)
              sum += p[static_cast<std::size_t>(j)] / total * (at(v, j, c) + relative(rv, j, c));
            want[static_cast<std::size_t>(i * width + h * dim + c)] = static_cast<float>(sum);
          }
        }
      expect_close(out, want);
    }
  }
}

} // namespace
} // namespace omni
