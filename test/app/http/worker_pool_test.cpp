#include "app/http/worker_pool.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <latch>
#include <memory>

namespace omni::http {
namespace {

TEST(worker_pool, runs_what_it_takes) {
  std::atomic<int> ran{0};
  std::latch all(3);
  worker_pool pool(2, 8, "test");
  for (int i = 0; i < 3; ++i)
    EXPECT_TRUE(pool.post([&] {
      ++ran;
      all.count_down();
    }));
  all.wait();
  EXPECT_EQ(ran, 3);
}

TEST(worker_pool, refuses_more_than_may_wait_until_one_is_taken_up) {
  std::latch started(1), release(1), done(2);
  worker_pool pool(1, 1, "test");
  ASSERT_TRUE(pool.post([&] {
    started.count_down();
    release.wait();
    done.count_down();
  }));
  started.wait();
  EXPECT_TRUE(pool.post([&] { done.count_down(); }));
  EXPECT_FALSE(pool.post([] { FAIL() << "was refused"; }));
  release.count_down();
  done.wait();
}

TEST(worker_pool, its_end_waits_for_what_runs_and_lets_go_of_what_waits) {
  std::latch started(1), release(1);
  std::atomic<bool> finished{false};
  const auto held = std::make_shared<int>(0);
  {
    worker_pool pool(1, 4, "test");
    pool.post([&] {
      started.count_down();
      release.wait();
      finished = true;
    });
    started.wait();
    pool.post([held] {});
    release.count_down();
  }
  EXPECT_TRUE(finished);
  EXPECT_EQ(held.use_count(), 1);
}

} // namespace
} // namespace omni::http
