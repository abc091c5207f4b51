#include "metrics/playback.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

constexpr std::int32_t rate = 1000;

TEST(playback, sound_that_arrives_in_time_leaves_no_gap) {
  playback listener;
  listener.packet(5, 500, rate);
  listener.packet(5.5, 100, rate);
  EXPECT_EQ(listener.worst_deficit_s(), 0);
}

TEST(playback, the_worst_deficit_is_how_late_a_packet_came) {
  playback listener;
  listener.packet(5, 500, rate);
  listener.packet(6.5, 2000, rate); // heard until 5.5
  listener.packet(7.5, 10, rate);
  EXPECT_EQ(listener.worst_deficit_s(), 1);
  audio_totals totals;
  bad_value_counts bad{};
  listener.close(totals, bad);
  EXPECT_EQ(totals.underrun.sum, 1);
  EXPECT_EQ(totals.continuity_ok, 0);
}

TEST(playback, a_gap_of_the_threshold_is_still_continuous) {
  playback listener;
  listener.packet(0, 500, rate);
  listener.packet(0.5 + continuity_threshold_s, 10, rate);
  audio_totals totals;
  bad_value_counts bad{};
  listener.close(totals, bad);
  EXPECT_EQ(totals.continuity_ok, 1);
}

TEST(playback, starts_at_the_first_packet_that_has_sound) {
  playback listener;
  listener.packet(1, 0, rate);
  EXPECT_FALSE(listener.started());
  listener.packet(9, 100, rate);
  EXPECT_TRUE(listener.started());
  EXPECT_EQ(listener.worst_deficit_s(), 0);
}

TEST(playback, a_stream_without_sound_is_not_observed) {
  audio_totals totals;
  bad_value_counts bad{};
  playback().close(totals, bad);
  EXPECT_TRUE(totals.underrun.empty());
  EXPECT_EQ(totals.continuity_ok, 0);
}

TEST(count_sound, gives_duration_frames_and_real_time_factor) {
  audio_totals totals;
  bad_value_counts bad{};
  count_sound(totals, 2000, rate, 0.5, bad);
  EXPECT_EQ(totals.frames, 2000);
  EXPECT_EQ(totals.duration.sum, 2);
  EXPECT_EQ(totals.rtf.sum, 0.25);
  EXPECT_EQ(totals.skipped, 0);
}

TEST(count_sound, a_request_that_got_none_is_counted_as_skipped) {
  audio_totals totals;
  bad_value_counts bad{};
  count_sound(totals, 0, rate, 0.5, bad);
  EXPECT_EQ(totals.skipped, 1);
  EXPECT_TRUE(totals.rtf.empty());
}

} // namespace
} // namespace omni
