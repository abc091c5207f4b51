#include "actors/stage/prefix_index.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace omni {
namespace {

using tokens = std::vector<std::int32_t>;

TEST(prefix_index, finds_the_longest_known_run_of_full_blocks) {
  prefix_index index;
  const auto first = index.insert(empty_prefix, tokens{1, 2}, 10);
  index.insert(first.prefix, tokens{3, 4}, 11);
  const auto run = index.longest(tokens{1, 2, 3, 4, 5, 6, 7}, 2, 9);
  ASSERT_EQ(run.size(), 2u);
  EXPECT_EQ(run[0].block, 10);
  EXPECT_EQ(run[1].block, 11);
  EXPECT_EQ(index.longest(tokens{1, 2, 3, 4}, 2, 1).size(), 1u);
  EXPECT_EQ(index.longest(tokens{1, 2, 3}, 2, 9).size(), 1u);
}

TEST(prefix_index, tells_the_same_tokens_after_different_prefixes_apart) {
  prefix_index index;
  const auto a = index.insert(empty_prefix, tokens{1, 1}, 0);
  const auto b = index.insert(empty_prefix, tokens{2, 2}, 1);
  index.insert(a.prefix, tokens{9, 9}, 2);
  index.insert(b.prefix, tokens{9, 9}, 3);
  EXPECT_EQ(index.longest(tokens{1, 1, 9, 9}, 2, 9)[1].block, 2);
  EXPECT_EQ(index.longest(tokens{2, 2, 9, 9}, 2, 9)[1].block, 3);
  EXPECT_FALSE(index.find(empty_prefix, tokens{9, 9}));
}

TEST(prefix_index, keeps_the_first_block_of_equal_content) {
  prefix_index index;
  const auto first = index.insert(empty_prefix, tokens{5, 6}, 1);
  const auto second = index.insert(empty_prefix, tokens{5, 6}, 2);
  EXPECT_EQ(second.block, 1);
  EXPECT_EQ(second.prefix, first.prefix);
  EXPECT_FALSE(index.contains(2));
}

TEST(prefix_index, does_not_find_children_of_a_forgotten_block_again) {
  prefix_index index;
  const auto first = index.insert(empty_prefix, tokens{1, 2}, 1);
  index.insert(first.prefix, tokens{3, 4}, 2);
  index.erase(1);
  EXPECT_TRUE(index.longest(tokens{1, 2, 3, 4}, 2, 9).empty());
  const auto again = index.insert(empty_prefix, tokens{1, 2}, 7);
  EXPECT_NE(again.prefix, first.prefix);
  EXPECT_EQ(index.longest(tokens{1, 2, 3, 4}, 2, 9).size(), 1u);
  EXPECT_TRUE(index.contains(2)) << "it stays known until its block is taken";
}

TEST(prefix_index, forgets_blocks_it_knows_and_ignores_others) {
  prefix_index index;
  index.insert(empty_prefix, tokens{1, 2}, 1);
  index.erase(5);
  EXPECT_EQ(index.size(), 1u);
  index.erase(1);
  EXPECT_EQ(index.size(), 0u);
  EXPECT_FALSE(index.find(empty_prefix, tokens{1, 2}));
}

TEST(prefix_index, equal_tokens_of_other_contents_are_not_the_same) {
  const tokens text{1, 2, 3, 3, 3, 4};
  const std::vector<content_mark> cat{{2, {1}}}, dog{{2, {2}}}, none;
  prefix_index index;
  std::vector<std::int32_t> made;
  prefix_id parent = empty_prefix;
  for (block_id block = 0; block < 3; ++block)
    parent = index.insert(parent, block_key(text, cat, std::size_t(block) * 2, 2, made), block).prefix;
  EXPECT_EQ(index.longest(text, 2, 9, cat).size(), 3u);
  EXPECT_EQ(index.longest(text, 2, 9, dog).size(), 1u) << "what precedes the content is shared";
  EXPECT_EQ(index.longest(text, 2, 9, none).size(), 1u);
}

TEST(prefix_index, a_block_knows_all_that_begins_in_it) {
  const tokens text{1, 2, 3, 4};
  std::vector<std::int32_t> made;
  const std::vector<content_mark> both{{0, {7}}, {1, {8}}}, first{{0, {7}}};
  const auto key = [&](const auto& marks) {
    const auto found = block_key(text, marks, 0, 2, made);
    return tokens(found.begin(), found.end());
  };
  EXPECT_EQ(key(first), (tokens{1, 2, 7, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(key(both).size(), 2u + 16u);
  const auto later = block_key(text, both, 2, 2, made);
  EXPECT_EQ(tokens(later.begin(), later.end()), (tokens{3, 4}));
}

} // namespace
} // namespace omni
