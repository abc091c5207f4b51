#include "actors/replica_registry.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

/// Identities are told apart by their number.
replica_registry::candidate who(std::int32_t stage, std::optional<std::int32_t> wanted, std::uint64_t identity) {
  return {{stage}, wanted ? std::optional(replica_id{*wanted}) : std::nullopt, identity, 7};
}

TEST(replica_registry, gives_the_lowest_free_id_and_the_next_engine_index) {
  replica_registry registry(2);
  EXPECT_EQ(registry.join(who(0, std::nullopt, 1))->replica.value, 0);
  EXPECT_EQ(registry.join(who(0, 3, 2))->replica.value, 3);
  EXPECT_EQ(registry.join(who(0, std::nullopt, 3))->replica.value, 1);
  const auto other = registry.join(who(1, std::nullopt, 4));
  EXPECT_EQ(other->replica.value, 0);
  EXPECT_EQ(other->engine, 3);
}

TEST(replica_registry, changes_nothing_when_a_replica_joins_twice) {
  replica_registry registry(1);
  const auto first = registry.join(who(0, 2, 1));
  const auto again = registry.join(who(0, 2, 1));
  ASSERT_TRUE(again);
  EXPECT_FALSE(again->fresh);
  EXPECT_EQ(again->engine, first->engine);
  EXPECT_EQ(registry.list({1}, 0).size(), 1u);
}

TEST(replica_registry, refuses_an_id_that_another_live_replica_has) {
  replica_registry registry(1);
  registry.join(who(0, 2, 1));
  EXPECT_EQ(registry.join(who(0, 2, 9)).error().code, errc::replica_conflict);
}

TEST(replica_registry, refuses_another_model_in_the_same_stage) {
  replica_registry registry(1);
  registry.join(who(0, 0, 1));
  auto other = who(0, 1, 2);
  other.fingerprint = 8;
  EXPECT_EQ(registry.join(other).error().code, errc::replica_conflict);
}

TEST(replica_registry, refuses_stages_and_ids_that_cannot_be) {
  replica_registry registry(2);
  EXPECT_EQ(registry.join(who(2, std::nullopt, 1)).error().code, errc::not_found);
  EXPECT_EQ(registry.join(who(-1, std::nullopt, 1)).error().code, errc::not_found);
  EXPECT_EQ(registry.join(who(0, -1, 1)).error().code, errc::invalid_request);
}

TEST(replica_registry, offers_only_replicas_that_serve) {
  replica_registry registry(1);
  for (std::uint64_t i = 0; i < 3; ++i) registry.join(who(0, std::nullopt, i));
  EXPECT_TRUE(registry.choices({0}).empty());
  registry.serve({0}, {0});
  registry.serve({0}, {1});
  ASSERT_TRUE(registry.drain({0}, {1}));
  registry.add_load({0}, {0}, 2);
  const auto choices = registry.choices({0});
  ASSERT_EQ(choices.size(), 1u);
  EXPECT_EQ(choices[0].replica.value, 0);
  EXPECT_EQ(choices[0].load, 2);
}

TEST(replica_registry, gives_an_id_back_with_its_engine_index) {
  replica_registry registry(1);
  const auto first = registry.join(who(0, std::nullopt, 1));
  registry.join(who(0, std::nullopt, 2));
  registry.depart({0}, {0}, 0);
  EXPECT_EQ(registry.state({0}, {0}), replica_state::lost);
  const auto again = registry.join(who(0, std::nullopt, 3));
  EXPECT_EQ(again->replica, first->replica);
  EXPECT_EQ(again->engine, first->engine);
  EXPECT_EQ(registry.join(who(0, std::nullopt, 4))->engine, 2);
}

TEST(replica_registry, forgets_who_left_after_draining) {
  replica_registry registry(1);
  registry.join(who(0, std::nullopt, 1));
  registry.serve({0}, {0});
  ASSERT_TRUE(registry.drain({0}, {0}));
  registry.depart({0}, {0}, 0);
  EXPECT_FALSE(registry.state({0}, {0}));
  EXPECT_EQ(registry.drain({0}, {0}).error().code, errc::not_found);
}

TEST(replica_registry, lists_load_as_running_and_waiting) {
  replica_registry registry(2);
  registry.join(who(1, 5, 1));
  registry.serve({1}, {5});
  registry.add_load({1}, {5}, 7);
  const auto lines = registry.list({4, 4}, 0);
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines[0].stage.value, 1);
  EXPECT_EQ(lines[0].replica.value, 5);
  EXPECT_EQ(lines[0].state, replica_state::serving);
  EXPECT_EQ(lines[0].running, 4);
  EXPECT_EQ(lines[0].waiting, 3);
}

TEST(replica_registry, drops_the_load_of_a_lost_replica) {
  replica_registry registry(1);
  registry.join(who(0, 0, 1));
  registry.serve({0}, {0});
  registry.add_load({0}, {0}, 3);
  registry.depart({0}, {0}, 0);
  registry.add_load({0}, {0}, -3);
  EXPECT_EQ(registry.load({0}, {0}), 0);
}

TEST(replica_registry, lists_a_lost_replica_for_a_while) {
  replica_registry registry(1);
  ASSERT_TRUE(registry.join({{0}, {}, 1}));
  registry.serve({0}, {0});
  registry.depart({0}, {0}, 5'000'000);
  ASSERT_EQ(registry.list({1}, 7'000'000).size(), 1u);
  EXPECT_EQ(registry.list({1}, 7'000'000)[0].state, replica_state::lost);
  EXPECT_EQ(registry.list({1}, 7'000'000)[0].up_s, 2) << "since it was lost";
  EXPECT_EQ(registry.list({1}, 5'000'000 + lost_shown_us).size(), 1u);
  EXPECT_TRUE(registry.list({1}, 5'000'001 + lost_shown_us).empty());
}

} // namespace
} // namespace omni
