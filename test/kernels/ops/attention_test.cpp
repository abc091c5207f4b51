#include "kernels/ops/attention.hpp"

#include "kernels/core/float16.hpp"
#include "test/support/compute_fixture.hpp"
#include "test/support/each_isa.hpp"
#include "test/support/op_cases.hpp"
#include "test/support/random_floats.hpp"
#include "test/support/reference_ops.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>
#include <numeric>

namespace omni {
namespace {

using test::attention_case;
using test::compute_fixture;
using test::random_floats;

/// Keys, values and queries of all tokens of all sequences, and a cache whose blocks are dealt out in no order.
struct filled_case {
  attention_case c;
  dtype type;
  std::int64_t tokens;
  bool causal = true;
  std::vector<float> query, key, value; // [sequences, tokens, heads or kv_heads, head_dim]
  std::vector<std::vector<std::int32_t>> tables;
  kv_layer cache;
  std::vector<std::byte> memory;

  filled_case(const attention_case& of, dtype cache_type, std::int64_t block_size = 16)
      : c(of), type(cache_type), tokens(c.before + c.rows) {
    query = random_floats(c.sequences * tokens * c.heads * c.head_dim, 1);
    key = random_floats(c.sequences * tokens * c.kv_heads * c.head_dim, 2);
    value = random_floats(c.sequences * tokens * c.kv_heads * c.head_dim, 3);
    for (float& q : query) q *= 4.0F; // so that some keys matter far more than others
    const std::int64_t blocks = (tokens + block_size - 1) / block_size, all = blocks * c.sequences + 1;
    std::vector<std::int32_t> order(static_cast<std::size_t>(all));
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), std::mt19937(5));
    for (std::int64_t s = 0; s < c.sequences; ++s)
      tables.emplace_back(order.begin() + s * blocks, order.begin() + (s + 1) * blocks);
    cache = {nullptr, type, all, 0, block_size, c.kv_heads, c.head_dim};
    cache.block_stride = cache.block_bytes() + 64; // as if another layer stood between
    memory.resize(static_cast<std::size_t>(all * cache.block_stride));
    cache.data = memory.data();
  }

  /// Feeds tokens [begin, end) of every sequence in one step; returns the outputs, sequence by sequence.
  std::vector<float> feed(std::int64_t begin, std::int64_t end, compute_fixture& on) {
    const std::int64_t n = end - begin, rows = n * c.sequences;
    const auto part = [&](const std::vector<float>& all, std::int64_t width) {
      std::vector<float> some;
      for (std::int64_t s = 0; s < c.sequences; ++s)
        some.insert(some.end(), all.begin() + (s * tokens + begin) * width, all.begin() + (s * tokens + end) * width);
      return some;
    };
    auto q = part(query, c.heads * c.head_dim), k = part(key, c.kv_heads * c.head_dim),
         v = part(value, c.kv_heads * c.head_dim);
    std::vector<sequence_rows> sequences;
    for (std::int64_t s = 0; s < c.sequences; ++s)
      sequences.push_back({s * n, n, begin, tables[static_cast<std::size_t>(s)]});
    std::vector<float> out(q.size());
    const shape kv_shape{rows, c.kv_heads, c.head_dim}, q_shape{rows, c.heads, c.head_dim}, none{rows, 0};
    float angle = 0.0F; // nothing turns
    store_qkv({tensor(q.data(), q_shape), tensor(k.data(), kv_shape), tensor(v.data(), kv_shape), tensor(&angle, none),
               tensor(&angle, none), nullptr, nullptr, 0.0F, cache, sequences},
              on.context);
    const float scale = 1.0F / std::sqrt(static_cast<float>(c.head_dim));
    attention({tensor(q.data(), q_shape), cache, sequences, scale, c.window, tensor(out.data(), q_shape), causal},
              on.context);
    return out;
  }

  /// The last `rows` tokens of every sequence, from the definition.
  [[nodiscard]] std::vector<double> reference() const {
    std::vector<double> all;
    for (std::int64_t s = 0; s < c.sequences; ++s)
      for (std::int64_t t = c.before; t < tokens; ++t) {
        const auto kept = [&](const std::vector<float>& x) {
          const std::int64_t width = c.kv_heads * c.head_dim;
          std::vector<float> some(x.begin() + s * tokens * width,
                                  x.begin() + (s * tokens + (causal ? t + 1 : tokens)) * width);
          if (type == dtype::f16)
            for (float& f : some) f = f16_to_f32(f32_to_f16(f));
          return some;
        };
        const std::int64_t q_width = c.heads * c.head_dim;
        const auto k = kept(key), v = kept(value);
        const auto row =
            test::reference_attention({std::span(query).subspan(static_cast<std::size_t>((s * tokens + t) * q_width),
                                                                static_cast<std::size_t>(q_width)),
                                       k, v, c.heads, c.kv_heads, c.head_dim, c.window});
        all.insert(all.end(), row.begin(), row.end());
      }
    return all;
  }
};

template <class Body>
void for_each_case(Body&& body) {
  for (const auto& c : test::attention_cases) {
    if (c.timed) continue;
    for (const auto type : {dtype::f32, dtype::f16}) {
      SCOPED_TRACE(name_of(c) + " " + std::string(info(type).name));
      body(c, type);
    }
  }
}

TEST(attention, sees_the_whole_sequence_if_nothing_is_hidden) {
  for_each_case([](const attention_case& c, dtype type) {
    if (c.window > 0) return;
    compute_fixture on;
    auto all_at_once = c;
    all_at_once.rows += std::exchange(all_at_once.before, 0);
    filled_case one(all_at_once, type);
    one.causal = false;
    const auto expected = one.reference();
    test::on_each_isa([&] { EXPECT_LE(test::relative_error(one.feed(0, one.tokens, on), expected), 2e-5); });
  });
}

TEST(attention, equals_its_definition_on_every_isa) {
  compute_fixture on;
  for_each_case([&](const attention_case& c, dtype type) {
    const auto expected = filled_case(c, type).reference();
    test::on_each_isa([&] {
      filled_case one(c, type);
      if (c.before > 0) one.feed(0, c.before, on);
      EXPECT_LE(test::relative_error(one.feed(c.before, one.tokens, on), expected), 3e-5);
    });
  });
}

TEST(attention, gives_the_same_bits_however_a_sequence_is_cut) {
  compute_fixture on, alone(1);
  for_each_case([&](const attention_case& c, dtype type) {
    if (c.sequences > 1) return;
    test::on_each_isa([&] {
      const auto whole = filled_case(c, type).feed(0, c.before + c.rows, on);
      for (const std::int64_t piece : {1, 5, 16, 100}) {
        filled_case one(c, type, piece == 16 ? 32 : 16);
        std::vector<float> cut;
        for (std::int64_t t = 0; t < one.tokens; t += piece) {
          const auto some = one.feed(t, std::min(one.tokens, t + piece), piece == 5 ? alone : on);
          cut.insert(cut.end(), some.begin(), some.end());
        }
        ASSERT_EQ(cut, whole) << piece;
      }
    });
  });
}

TEST(attention, with_a_head_repeated_is_grouped_attention) {
  compute_fixture on;
  const attention_case grouped{6, 2, 24, 20, 7}, full{6, 6, 24, 20, 7};
  filled_case a(grouped, dtype::f32), b(full, dtype::f32);
  b.query = a.query;
  for (std::int64_t t = 0; t < a.tokens; ++t)
    for (std::int64_t h = 0; h < 6; ++h) {
      std::copy_n(a.key.begin() + (t * 2 + h / 3) * 24, 24, b.key.begin() + (t * 6 + h) * 24);
      std::copy_n(a.value.begin() + (t * 2 + h / 3) * 24, 24, b.value.begin() + (t * 6 + h) * 24);
    }
  EXPECT_EQ(a.feed(0, a.tokens, on), b.feed(0, b.tokens, on));
}

TEST(attention, ignores_what_a_block_held_before) {
  compute_fixture on;
  const attention_case c{4, 2, 16, 0, 21};
  filled_case fresh(c, dtype::f16), used(c, dtype::f16);
  for (auto& x : used.key) x = 6e4F;
  for (auto& x : used.value) x = -1e6F; // saturates
  used.feed(0, used.tokens, on);
  used.key = fresh.key, used.value = fresh.value;
  EXPECT_EQ(used.feed(0, used.tokens, on), fresh.feed(0, fresh.tokens, on));
}

/// Norm, if any, and rope of heads [rows, heads, dims] from their definitions; 2 * half dims turn.
std::vector<double> reference_turned(const std::vector<float>& x, const std::vector<float>& cos,
                                     const std::vector<float>& sin, const std::vector<float>& norm, std::int64_t heads,
                                     std::int64_t dims, std::int64_t half) {
  std::vector<double> y(x.begin(), x.end());
  for (std::size_t at = 0; at < y.size(); at += static_cast<std::size_t>(dims)) {
    double* const head = y.data() + at;
    const auto row = static_cast<std::int64_t>(at) / (heads * dims);
    if (!norm.empty()) {
      double squares = 0.0;
      for (std::int64_t i = 0; i < dims; ++i) squares += head[i] * head[i];
      for (std::int64_t i = 0; i < dims; ++i)
        head[i] *= double{norm[static_cast<std::size_t>(i)]} / std::sqrt(squares / static_cast<double>(dims) + 1e-6);
    }
    for (std::int64_t i = 0; i < half; ++i) {
      const double c = double{cos[static_cast<std::size_t>(row * half + i)]},
                   s = double{sin[static_cast<std::size_t>(row * half + i)]};
      const double first = head[i], second = head[i + half];
      head[i] = first * c - second * s;
      head[i + half] = second * c + first * s;
    }
  }
  return y;
}

TEST(store_qkv, normalises_and_turns_heads_and_leaves_the_other_dims_on_every_isa) {
  compute_fixture on;
  const std::int64_t rows = 5, heads = 4, kv_heads = 2, dims = 40, half = 9; // 18 of 40 dims turn
  const auto q = random_floats(rows * heads * dims, 1), k = random_floats(rows * kv_heads * dims, 2);
  auto cos = random_floats(rows * half, 3), sin = random_floats(rows * half, 4), v = k;
  const auto norm = random_floats(dims, 5);
  kv_layer cache{nullptr, dtype::f32, 2, 0, 16, kv_heads, dims};
  cache.block_stride = cache.block_bytes();
  std::vector<std::byte> memory(static_cast<std::size_t>(2 * cache.block_bytes()));
  cache.data = memory.data();
  const std::vector<std::int32_t> table = {1};
  const sequence_rows sequences[] = {{0, rows, 3, table}};
  for (const bool with_norm : {false, true}) {
    const std::vector<float> weight = with_norm ? norm : std::vector<float>();
    const auto expected_q = reference_turned(q, cos, sin, weight, heads, dims, half);
    const auto expected_k = reference_turned(k, cos, sin, weight, kv_heads, dims, half);
    test::on_each_isa([&] {
      auto query = q, key = k;
      store_qkv({tensor(query.data(), {rows, heads, dims}), tensor(key.data(), {rows, kv_heads, dims}),
                 tensor(v.data(), {rows, kv_heads, dims}), tensor(cos.data(), {rows, half}),
                 tensor(sin.data(), {rows, half}), with_norm ? norm.data() : nullptr, with_norm ? norm.data() : nullptr,
                 1e-6F, cache, sequences},
                on.context);
      EXPECT_LE(test::relative_error(query, expected_q), 2e-6);
      EXPECT_LE(test::relative_error(key, expected_k), 2e-6);
      // Key 2 of kv head 1 stands in column 3 + 2 of block 1.
      const auto* const stored = reinterpret_cast<const float*>(cache.data + cache.block_bytes()) + cache.head_values();
      for (std::int64_t d = 0; d < dims; ++d)
        EXPECT_EQ(stored[d * 16 + 5], key[static_cast<std::size_t>((2 * kv_heads + 1) * dims + d)]);
    });
  }
}

} // namespace
} // namespace omni
