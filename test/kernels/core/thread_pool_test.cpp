#include "kernels/core/thread_pool.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <numeric>
#include <thread>
#include <vector>

namespace omni {
namespace {

TEST(thread_pool, runs_each_chunk_once) {
  thread_pool pool(3);
  thread_pool::lane lane(pool);
  for (int round = 0; round < 2000; ++round) {
    const thread_pool::lane::step step(lane, round);
    const std::int64_t chunks = round % 17;
    std::vector<int> hits(static_cast<std::size_t>(chunks), 0);
    lane.parallel(chunks, [&](std::int64_t i) { ++hits[static_cast<std::size_t>(i)]; });
    EXPECT_EQ(std::accumulate(hits.begin(), hits.end(), std::int64_t{0}), chunks);
    for (int hit : hits) EXPECT_EQ(hit, 1);
  }
}

TEST(thread_pool, sees_what_chunks_wrote) {
  thread_pool pool(2);
  thread_pool::lane lane(pool);
  const thread_pool::lane::step step(lane, 0);
  std::vector<std::int64_t> value(64, 0);
  for (int round = 0; round < 500; ++round)
    lane.parallel(64, [&](std::int64_t i) { value[static_cast<std::size_t>(i)] += i; });
  for (std::int64_t i = 0; i < 64; ++i) EXPECT_EQ(value[static_cast<std::size_t>(i)], 500 * i);
}

TEST(thread_pool, lanes_share_it_at_the_same_time) {
  thread_pool pool(2);
  std::atomic<std::int64_t> sum{0};
  const auto work = [&](std::int64_t deadline) {
    thread_pool::lane lane(pool);
    for (int round = 0; round < 500; ++round) {
      const thread_pool::lane::step step(lane, deadline);
      lane.parallel(8, [&](std::int64_t i) { sum += i; });
    }
  };
  std::thread a(work, 1);
  std::thread b(work, 2);
  std::thread c(work, 3);
  a.join(), b.join(), c.join();
  EXPECT_EQ(sum.load(), 3 * 500 * 28);
}

TEST(thread_pool, a_pool_of_one_runs_in_the_caller) {
  thread_pool pool(1);
  thread_pool::lane lane(pool);
  const auto me = std::this_thread::get_id();
  lane.parallel(5, [&](std::int64_t) { EXPECT_EQ(std::this_thread::get_id(), me); });
}

} // namespace
} // namespace omni
