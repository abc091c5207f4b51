#include "actors/request_table.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

using ids = std::vector<request_id>;

TEST(request_table, lists_who_waits_in_order_of_arrival) {
  request_table table;
  for (std::uint64_t id : {3, 5, 9}) table.add({id}, {}, {}, 0);
  table.find({5})->now = flight::phase::placed;
  EXPECT_EQ(table.waiting(), (ids{{3}, {9}}));
  EXPECT_EQ(table.count(flight::phase::placed), 1u);
  table.erase({3});
  EXPECT_EQ(table.waiting(), (ids{{9}}));
  EXPECT_EQ(table.find({3}), nullptr);
}

TEST(request_table, knows_who_still_needs_a_replica) {
  request_table table;
  auto& one = table.add({1}, {}, {0, 1}, 0);
  one.shares = {{{0}, {4}, false}, {{1}, {4}, false}};
  table.add({2}, {}, {0, 0}, 0).shares = {{{0}, {3}, false}};
  EXPECT_EQ(table.bound_to({0}, {4}), (ids{{1}}));
  one.share_of({0})->done = true;
  EXPECT_TRUE(table.bound_to({0}, {4}).empty()) << "its share is over there";
  EXPECT_EQ(table.bound_to({1}, {4}), (ids{{1}}));
  EXPECT_FALSE(one.all_done());
  one.share_of({1})->done = true;
  EXPECT_TRUE(one.all_done());
  EXPECT_EQ(one.share_of({2}), nullptr);
}

} // namespace
} // namespace omni
