#include "actors/router.hpp"

#include <gtest/gtest.h>
#include <map>
#include <vector>

namespace omni {
namespace {

using choice = replica_registry::choice;

const std::vector<choice> three{{{0}, 2}, {{3}, 1}, {{7}, 1}};

std::vector<std::int32_t> picks(router& by, int count, const std::vector<choice>& from = three) {
  std::vector<std::int32_t> ids;
  for (int i = 0; i < count; ++i) ids.push_back(by.pick({0}, from)->value);
  return ids;
}

TEST(router, has_no_choice_without_replicas) {
  router by(routing_policy::least_queue_length, 0);
  EXPECT_FALSE(by.pick({0}, {}));
}

TEST(router, takes_turns) {
  router by(routing_policy::round_robin, 0);
  EXPECT_EQ(picks(by, 5), (std::vector<std::int32_t>{0, 3, 7, 0, 3}));
}

TEST(router, takes_turns_in_each_stage_apart) {
  router by(routing_policy::round_robin, 0);
  EXPECT_EQ(by.pick({0}, three)->value, 0);
  EXPECT_EQ(by.pick({1}, three)->value, 0);
  EXPECT_EQ(by.pick({0}, three)->value, 3);
}

TEST(router, goes_on_with_the_next_one_when_a_replica_left) {
  router by(routing_policy::round_robin, 0);
  picks(by, 2);
  EXPECT_EQ(by.pick({0}, std::vector<choice>{{{0}, 0}, {{7}, 0}})->value, 7);
}

TEST(router, prefers_the_idle_replica_and_takes_turns_among_equals) {
  router by(routing_policy::least_queue_length, 0);
  EXPECT_EQ(picks(by, 3), (std::vector<std::int32_t>{3, 7, 3}));
}

TEST(router, prefers_who_holds_most_of_the_prompt_if_it_is_hardly_busier) {
  router by(routing_policy::least_queue_length, 0);
  EXPECT_EQ(picks(by, 2, {{{0}, 3, 0}, {{1}, 4, 2}, {{2}, 4, 5}}), (std::vector<std::int32_t>{2, 2}));
  EXPECT_EQ(picks(by, 2, {{{0}, 3, 0}, {{1}, 4, 2}, {{2}, 5, 5}}), (std::vector<std::int32_t>{1, 1}));
  EXPECT_EQ(picks(by, 2, {{{0}, 3, 0}, {{1}, 5, 2}, {{2}, 5, 5}}), (std::vector<std::int32_t>{0, 0}));
}

TEST(router, prefers_the_idlest_of_those_that_hold_as_much_and_takes_turns_among_equals) {
  router by(routing_policy::least_queue_length, 0);
  EXPECT_EQ(picks(by, 3, {{{0}, 1, 4}, {{1}, 0, 4}, {{2}, 0, 4}, {{3}, 0, 3}}), (std::vector<std::int32_t>{1, 2, 1}));
}

TEST(router, heeds_what_replicas_hold_under_least_queue_length_only) {
  router turns(routing_policy::round_robin, 0);
  EXPECT_EQ(picks(turns, 2, {{{0}, 0, 9}, {{1}, 0, 0}}), (std::vector<std::int32_t>{0, 1}));
}

TEST(router, spreads_at_random_but_the_same_for_the_same_seed) {
  router a(routing_policy::random, 42);
  router b(routing_policy::random, 42);
  const auto ids = picks(a, 3000);
  EXPECT_EQ(ids, picks(b, 3000));
  std::map<std::int32_t, int> counts;
  for (const auto id : ids) ++counts[id];
  for (const auto& [id, count] : counts) EXPECT_NEAR(count, 1000, 150) << id;
}

} // namespace
} // namespace omni
