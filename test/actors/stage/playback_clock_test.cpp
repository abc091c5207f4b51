#include "actors/stage/playback_clock.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

TEST(playback_clock, wants_a_first_packet_within_the_start_budget) {
  const playback_clock clock(1'000'000, 200'000);
  EXPECT_FALSE(clock.started());
  EXPECT_EQ(clock.due(), 1'200'000);
}

TEST(playback_clock, wants_more_by_the_time_that_all_was_heard) {
  playback_clock clock(0, 200'000);
  clock.deliver(0.5, 100'000);
  EXPECT_EQ(clock.due(), 600'000);
  clock.deliver(0.25, 300'000);
  EXPECT_EQ(clock.due(), 850'000);
}

TEST(playback_clock, starts_again_for_a_listener_who_ran_dry) {
  playback_clock clock(0, 200'000);
  clock.deliver(0.1, 100'000);
  clock.deliver(0.1, 900'000);
  EXPECT_EQ(clock.due(), 1'000'000);
}

TEST(playback_clock, does_not_start_with_silence_of_no_length) {
  playback_clock clock(0, 200'000);
  clock.deliver(0, 100'000);
  EXPECT_FALSE(clock.started());
  EXPECT_EQ(clock.due(), 200'000);
}

} // namespace
} // namespace omni
