#include "actors/prefix_memory.hpp"

#include <gtest/gtest.h>
#include <numeric>

namespace omni {
namespace {

using tokens = std::vector<std::int32_t>;
using key = prefix_memory::key;

constexpr std::int32_t block = 4;
const key first{{0}, {0}};
const key second{{0}, {7}};

/// `blocks` full blocks of tokens that start with `from`.
tokens prompt(std::int32_t from, std::size_t blocks) {
  tokens all(blocks * block);
  std::iota(all.begin(), all.end(), from);
  return all;
}

class prefix_memory_test : public testing::Test {
protected:
  void remember(const key& which, const tokens& prompt) { memory.remember(which, memory.blocks_of(prompt)); }
  std::int32_t held(const key& which, const tokens& prompt) { return memory.held(which, memory.blocks_of(prompt)); }
  prefix_memory memory{block};
};

TEST_F(prefix_memory_test, counts_the_full_blocks_that_begin_alike_for_each_replica) {
  memory.add(first, 1000);
  memory.add(second, 1000);
  auto known = prompt(1, 3);
  known.push_back(99);
  remember(first, known);
  EXPECT_EQ(held(first, known), 3) << "the last one is not full";
  EXPECT_EQ(held(second, known), 0);
  auto other = prompt(1, 5);
  EXPECT_EQ(held(first, other), 3);
  other[5] = 0;
  EXPECT_EQ(held(first, other), 1) << "the third block is the same, but not what precedes it";
  EXPECT_EQ(held(first, prompt(5, 2)), 0) << "blocks count from the start only";
}

TEST_F(prefix_memory_test, finds_less_than_half_of_a_prompt_worth_nothing) {
  memory.add(first, 1000);
  remember(first, prompt(1, 3));
  const auto worth = [&](std::size_t blocks) { return memory.worth(first, memory.blocks_of(prompt(1, blocks))); };
  EXPECT_EQ(worth(2), 2);
  EXPECT_EQ(worth(6), 3);
  EXPECT_EQ(worth(7), 0);
}

TEST_F(prefix_memory_test, forgets_what_was_not_used_for_longest_and_ends_before_beginnings) {
  memory.add(first, 4 * block + 3);
  remember(first, prompt(1, 3));
  remember(first, prompt(100, 1));
  remember(first, prompt(1, 3)); // again
  remember(first, prompt(200, 2));
  EXPECT_EQ(held(first, prompt(100, 1)), 0);
  EXPECT_EQ(held(first, prompt(1, 3)), 2);
  EXPECT_EQ(held(first, prompt(200, 2)), 2);
}

TEST_F(prefix_memory_test, keeps_the_beginning_of_a_prompt_that_is_larger_than_the_cache) {
  memory.add(first, 4 * block);
  remember(first, prompt(1, 9));
  EXPECT_EQ(held(first, prompt(1, 9)), 4);
}

TEST_F(prefix_memory_test, knows_nothing_of_replicas_that_were_not_added_or_have_gone) {
  EXPECT_TRUE(memory.blocks_of(prompt(1, 3)).empty()) << "not even hashed";
  memory.add(second, 1000);
  remember(first, prompt(1, 3));
  remember(second, prompt(1, 3));
  EXPECT_EQ(held(first, prompt(1, 3)), 0);
  EXPECT_EQ(held({{1}, {7}}, prompt(1, 3)), 0) << "the same id in another stage";
  memory.forget(second);
  memory.forget(first);
  memory.add(first, 1000);
  memory.add(second, 1000);
  EXPECT_EQ(held(second, prompt(1, 3)), 0);
}

TEST_F(prefix_memory_test, bounds_what_a_replica_may_claim) {
  memory.add(first, -5);
  memory.add(second, INT64_MAX);
  remember(first, prompt(1, 1));
  remember(second, prompt(1, 1));
  EXPECT_EQ(held(first, prompt(1, 1)), 0);
  EXPECT_EQ(held(second, prompt(1, 1)), 1);
  const auto huge = prompt(1, (1 << 20) + 1);
  remember(second, huge);
  EXPECT_EQ(held(second, huge), 1 << 20);
}

} // namespace
} // namespace omni
