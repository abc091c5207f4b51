#include "actors/report_outbox.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

struct sum {
  int value = 0;
  void merge(sum&& later) { value += later.value; }
};

TEST(report_outbox, sends_two_reports_at_once) {
  report_outbox<sum> box;
  EXPECT_EQ(box.push({3})->value, 3);
  EXPECT_EQ(box.push({4})->value, 4);
  EXPECT_FALSE(box.push({5}));
}

TEST(report_outbox, merges_further_reports_until_one_is_answered) {
  report_outbox<sum> box;
  box.push({1});
  box.push({1});
  for (int i = 0; i < 1000; ++i) EXPECT_FALSE(box.push({2}));
  EXPECT_EQ(box.acknowledged()->value, 2000);
  EXPECT_FALSE(box.push({5})) << "two are unanswered again";
  EXPECT_EQ(box.acknowledged()->value, 5);
}

TEST(report_outbox, has_nothing_to_send_when_all_was_answered) {
  report_outbox<sum> box;
  box.push({1});
  EXPECT_FALSE(box.acknowledged());
  EXPECT_TRUE(box.push({2}));
  EXPECT_TRUE(box.push({3}));
  EXPECT_FALSE(box.push({4}));
}

} // namespace
} // namespace omni
