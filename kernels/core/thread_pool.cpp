#include "kernels/core/thread_pool.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace omni {
namespace {

constexpr int spin_rounds = 100; // about 5 us of pauses

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

// ticket = region number (24 bits) | chunks (20 bits) | next chunk (20 bits)
constexpr std::uint64_t field_mask = (std::uint64_t{1} << 20) - 1;
constexpr std::uint64_t chunks_of(std::uint64_t ticket) { return ticket >> 20 & field_mask; }
constexpr std::uint64_t next_of(std::uint64_t ticket) { return ticket & field_mask; }
constexpr std::uint64_t make_ticket(std::uint64_t region, std::uint64_t chunks) { return region << 40 | chunks << 20; }

} // namespace

thread_pool::thread_pool(unsigned threads) : threads_(std::max(1u, threads)) {
  for (unsigned i = 1; i < threads_; ++i) helpers_.emplace_back([this](std::stop_token stop) { help(stop); });
}

thread_pool::~thread_pool() {
  OMNI_CHECK(lanes_.empty(), "every lane must be gone before its pool");
  for (auto& helper : helpers_) helper.request_stop();
  wake_ticket_.fetch_add(1);
  wake_ticket_.notify_all();
}

void thread_pool::help(std::stop_token stop) {
  helpers_awake_.fetch_add(1);
  while (!stop.stop_requested()) {
    bool worked = false;
    for (int round = 0; round < spin_rounds && !worked; ++round) {
      // More threads that want to run than the pool has: spinning would only take a core from a lane.
      if (lanes_in_step_.load(std::memory_order_relaxed) + helpers_awake_.load(std::memory_order_relaxed) > threads_) break;
      worked = help_once();
      if (!worked) pause();
    }
    if (worked) continue;
    const auto ticket = wake_ticket_.load();
    helpers_awake_.fetch_sub(1);
    sleepers_.fetch_add(1);
    if (!stop.stop_requested()) wake_ticket_.wait(ticket);
    sleepers_.fetch_sub(1);
    helpers_awake_.fetch_add(1);
  }
  helpers_awake_.fetch_sub(1);
}

bool thread_pool::help_once() {
  lane* best = nullptr;
  {
    const std::unique_lock lock(lanes_mutex_, std::try_to_lock);
    if (!lock) return false;
    for (lane* candidate : lanes_) {
      const auto ticket = candidate->ticket_.load(std::memory_order_relaxed);
      if (next_of(ticket) >= chunks_of(ticket)) continue;
      if (candidate->helping_.load(std::memory_order_relaxed) + 1 >= candidate->max_threads_) continue;
      if (best == nullptr || candidate->deadline_.load(std::memory_order_relaxed) < best->deadline_.load(std::memory_order_relaxed))
        best = candidate;
    }
    if (best == nullptr) return false;
    best->helping_.fetch_add(1);
  }
  bool worked = false;
  while (best->run_one()) worked = true;
  best->helping_.fetch_sub(1, std::memory_order_release);
  return worked;
}

void thread_pool::wake_helper() {
  if (sleepers_.load(std::memory_order_relaxed) == 0) return;
  if (lanes_in_step_.load(std::memory_order_relaxed) + helpers_awake_.load(std::memory_order_relaxed) >= threads_) return;
  wake_ticket_.fetch_add(1);
  wake_ticket_.notify_one();
}

thread_pool::lane::lane(thread_pool& pool, unsigned max_threads)
    : pool_(pool), max_threads_(max_threads == 0 ? pool.threads() : std::min(max_threads, pool.threads())) {
  const std::lock_guard lock(pool_.lanes_mutex_);
  pool_.lanes_.push_back(this);
}

thread_pool::lane::~lane() {
  {
    const std::lock_guard lock(pool_.lanes_mutex_);
    std::erase(pool_.lanes_, this);
  }
  while (helping_.load(std::memory_order_acquire) != 0) std::this_thread::yield(); // a helper that just looks
}

thread_pool::lane::step::step(lane& owner, std::int64_t deadline) : owner_(owner) {
  owner_.deadline_.store(deadline, std::memory_order_relaxed);
  owner_.pool_.lanes_in_step_.fetch_add(1, std::memory_order_relaxed);
}

thread_pool::lane::step::~step() { owner_.pool_.lanes_in_step_.fetch_sub(1, std::memory_order_relaxed); }

void thread_pool::lane::run(std::int64_t chunks, chunk_function body, void* context) {
  OMNI_CHECK(chunks >= 0 && static_cast<std::uint64_t>(chunks) <= field_mask, "too many chunks in a parallel region");
  if (chunks <= 1 || max_threads_ == 1) {
    for (std::int64_t i = 0; i < chunks; ++i) body(context, i);
    return;
  }
  body_.store(body, std::memory_order_relaxed);
  context_.store(context, std::memory_order_relaxed);
  unfinished_.store(chunks, std::memory_order_relaxed);
  const auto region = (ticket_.load(std::memory_order_relaxed) >> 40) + 1;
  ticket_.store(make_ticket(region & 0xffffff, static_cast<std::uint64_t>(chunks)), std::memory_order_release);
  pool_.wake_helper();
  while (run_one()) {}
  for (int round = 0; unfinished_.load(std::memory_order_acquire) != 0; ++round) {
    if (round < spin_rounds) {
      pause();
      continue;
    }
    if (const auto left = unfinished_.load(std::memory_order_acquire); left != 0) unfinished_.wait(left, std::memory_order_acquire);
  }
}

bool thread_pool::lane::run_one() {
  auto ticket = ticket_.load(std::memory_order_acquire);
  for (;;) {
    if (next_of(ticket) >= chunks_of(ticket)) return false;
    const auto body = body_.load(std::memory_order_relaxed);
    auto* const context = context_.load(std::memory_order_relaxed);
    if (!ticket_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_acq_rel, std::memory_order_acquire)) continue;
    body(context, static_cast<std::int64_t>(next_of(ticket)));
    if (unfinished_.fetch_sub(1, std::memory_order_acq_rel) == 1) unfinished_.notify_one();
    return true;
  }
}

} // namespace omni
