#include "actors/stage/block_manager.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace omni {
namespace {

using tokens = std::vector<std::int32_t>;

tokens counted(std::int32_t from, std::size_t count) {
  tokens made;
  for (std::size_t i = 0; i < count; ++i) made.push_back(from + std::int32_t(i));
  return made;
}

TEST(block_manager, takes_as_many_blocks_as_tokens_need) {
  block_manager blocks(8, 4, true);
  block_manager::holding held;
  blocks.acquire(held, 9, {});
  EXPECT_EQ(held.blocks.size(), 3u);
  EXPECT_EQ(blocks.free(), 5);
  EXPECT_DOUBLE_EQ(blocks.usage(), 3.0 / 8);
  EXPECT_TRUE(blocks.extend(held));
  blocks.release(held);
  EXPECT_EQ(blocks.free(), 8);
  EXPECT_TRUE(held.blocks.empty());
}

TEST(block_manager, shares_full_blocks_of_a_known_prompt) {
  block_manager blocks(8, 4, true);
  const auto prompt = counted(0, 10);
  block_manager::holding first;
  blocks.acquire(first, prompt.size(), {});
  blocks.publish(first, prompt, prompt.size());
  const auto known = blocks.match(prompt);
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(blocks.cost(prompt.size(), known), 1);
  block_manager::holding second;
  blocks.acquire(second, prompt.size(), known);
  EXPECT_EQ(second.blocks[0], first.blocks[0]);
  EXPECT_EQ(second.blocks[1], first.blocks[1]);
  EXPECT_NE(second.blocks[2], first.blocks[2]);
  EXPECT_EQ(blocks.references(first.blocks[0]), 2);
}

TEST(block_manager, leaves_the_last_token_of_a_known_prompt_to_be_computed) {
  block_manager blocks(8, 4, true);
  const auto prompt = counted(0, 8);
  block_manager::holding held;
  blocks.acquire(held, prompt.size(), {});
  blocks.publish(held, prompt, prompt.size());
  EXPECT_EQ(blocks.match(prompt).size(), 1u);
  EXPECT_EQ(blocks.match(counted(0, 9)).size(), 2u);
}

TEST(block_manager, keeps_what_free_blocks_hold_until_they_are_taken) {
  block_manager blocks(4, 4, true);
  const auto prompt = counted(0, 8);
  block_manager::holding held;
  blocks.acquire(held, prompt.size(), {});
  blocks.publish(held, prompt, prompt.size());
  blocks.release(held);
  EXPECT_EQ(blocks.free(), 4);
  EXPECT_DOUBLE_EQ(blocks.usage(), 0);
  EXPECT_EQ(blocks.match(counted(0, 9)).size(), 2u);
  block_manager::holding other;
  blocks.acquire(other, 12, {}); // two empty ones and one that was cached
  EXPECT_EQ(blocks.match(counted(0, 9)).size(), 1u) << "the end of a sequence goes before its start";
}

TEST(block_manager, takes_the_cached_block_that_was_let_go_first) {
  block_manager blocks(2, 2, true);
  block_manager::holding a;
  block_manager::holding b;
  const tokens first{1, 2};
  const tokens second{3, 4};
  blocks.acquire(a, 2, {});
  blocks.acquire(b, 2, {});
  blocks.publish(a, first, 2);
  blocks.publish(b, second, 2);
  blocks.release(b);
  blocks.release(a);
  block_manager::holding other;
  blocks.acquire(other, 2, {});
  EXPECT_EQ(blocks.match(tokens{1, 2, 0}).size(), 1u);
  EXPECT_TRUE(blocks.match(tokens{3, 4, 0}).empty());
}

TEST(block_manager, counts_known_blocks_that_nobody_uses_as_cost) {
  block_manager blocks(4, 2, true);
  const auto prompt = counted(0, 4);
  block_manager::holding held;
  blocks.acquire(held, 4, {});
  blocks.publish(held, prompt, 4);
  blocks.release(held);
  const auto known = blocks.match(counted(0, 5));
  ASSERT_EQ(known.size(), 2u);
  EXPECT_EQ(blocks.cost(5, known), 3);
}

TEST(block_manager, finds_nothing_without_prefix_caching) {
  block_manager blocks(4, 2, false);
  const auto prompt = counted(0, 4);
  block_manager::holding held;
  blocks.acquire(held, 4, {});
  blocks.publish(held, prompt, 4);
  EXPECT_TRUE(blocks.match(counted(0, 5)).empty());
}

TEST(block_manager, refuses_to_extend_when_nothing_is_free) {
  block_manager blocks(1, 2, true);
  block_manager::holding held;
  EXPECT_TRUE(blocks.extend(held));
  EXPECT_FALSE(blocks.extend(held));
}

/// Random sequences come, grow and go; after each move every block is counted right and no two sequences share one
/// whose tokens differ.
TEST(block_manager, keeps_its_invariants_over_random_use) {
  struct user {
    block_manager::holding held;
    tokens content;
    std::size_t computed = 0;
  };
  std::mt19937 random(20240611);
  block_manager blocks(24, 3, true);
  std::vector<user> users;
  std::map<block_id, tokens> written; // what a runner would have put into each block
  const auto write = [&](user& one) {
    for (std::size_t at = 0; at < one.content.size(); ++at) {
      auto& cells = written[one.held.blocks[at / 3]];
      cells.resize(3, -1);
      if (at >= one.computed) cells[at % 3] = one.content[at];
      ASSERT_EQ(cells[at % 3], one.content[at]) << "a block holds what its users think";
    }
    one.computed = one.content.size();
    blocks.publish(one.held, one.content, one.computed);
  };
  for (int move = 0; move < 20'000; ++move) {
    const auto dice = random() % 10;
    if (dice < 4) {
      user fresh;
      const auto length = 1 + random() % 14;
      for (std::size_t i = 0; i < length; ++i) fresh.content.push_back(std::int32_t(random() % 2));
      const auto known = blocks.match(fresh.content);
      if (blocks.cost(length, known) > blocks.free()) continue;
      blocks.acquire(fresh.held, length, known);
      fresh.computed = known.size() * 3;
      write(fresh);
      users.push_back(std::move(fresh));
    } else if (dice < 8 && !users.empty()) {
      auto& one = users[random() % users.size()];
      if (one.content.size() == one.held.blocks.size() * 3 && !blocks.extend(one.held)) continue;
      one.content.push_back(std::int32_t(random() % 2));
      write(one);
    } else if (!users.empty()) {
      const auto at = random() % users.size();
      blocks.release(users[at].held);
      users.erase(users.begin() + std::ptrdiff_t(at));
    }
    std::map<block_id, std::int32_t> used;
    for (const auto& one : users)
      for (const auto block : one.held.blocks) ++used[block];
    for (block_id block = 0; block < blocks.total(); ++block) ASSERT_EQ(blocks.references(block), used[block]);
    ASSERT_EQ(blocks.free(),
              blocks.total() - std::ranges::count_if(used, [](auto& entry) { return entry.second > 0; }));
  }
}

} // namespace
} // namespace omni
