#include "actors/report_pace.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

constexpr time_us begin = 1'000'000;

TEST(report_pace, sends_the_first_facts_at_once_and_then_ten_times_a_second) {
  report_pace pace;
  EXPECT_EQ(pace.wait(begin, false), 0);
  pace.sent(begin);
  pace.acknowledged();
  EXPECT_EQ(pace.wait(begin + 30'000, false), 70'000);
  EXPECT_EQ(pace.wait(begin + 100'000, false), 0);
  EXPECT_EQ(pace.wait(begin + 900'000, false), 0);
}

TEST(report_pace, sends_urgent_facts_at_once) {
  report_pace pace;
  pace.sent(begin);
  EXPECT_EQ(pace.wait(begin + 1, true), 0);
  pace.sent(begin + 1);
  pace.acknowledged();
  EXPECT_EQ(pace.wait(begin + 1, false), 100'000) << "the urgent ones are gone";
}

TEST(report_pace, has_two_reports_under_way_at_most) {
  report_pace pace;
  pace.sent(begin);
  pace.sent(begin);
  EXPECT_EQ(pace.wait(begin + 500'000, false), std::nullopt);
  EXPECT_EQ(pace.wait(begin + 500'000, true), std::nullopt);
  pace.acknowledged();
  EXPECT_EQ(pace.wait(begin + 500'000, false), 0);
}

TEST(report_pace, remembers_what_was_urgent_until_it_may_be_sent) {
  report_pace pace;
  pace.sent(begin);
  pace.sent(begin);
  EXPECT_EQ(pace.wait(begin + 1, true), std::nullopt);
  pace.acknowledged();
  EXPECT_EQ(pace.wait(begin + 2, false), 0);
}

} // namespace
} // namespace omni
