#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <thread>
#include <type_traits>
#include <vector>

namespace omni {

/// The compute threads of the process. Each replica owns a `lane`; a step of the replica is a series of parallel regions
/// in which its own thread takes part and idle pool threads help, the lane with the earliest deadline first.
///
/// A region is a number of chunks that threads claim one by one, so a lane never waits for a thread that has not started:
/// with no helper free its own thread does all of the work. Helpers spin a few microseconds for the next region, then
/// sleep; none is woken while as many lanes are inside a step as the pool has threads.
class thread_pool {
public:
  /// `threads` counts the calling thread of one lane too: a pool of 1 has no helpers.
  explicit thread_pool(unsigned threads);
  ~thread_pool();
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  [[nodiscard]] unsigned threads() const { return threads_; }

  class lane;

private:
  void help(std::stop_token stop);
  bool help_once();
  void wake_helper();

  unsigned threads_;
  std::mutex lanes_mutex_; // guards lanes_ against lanes that come and go; helpers take it only to look for work
  std::vector<lane*> lanes_;
  std::atomic<unsigned> lanes_in_step_{0};
  std::atomic<unsigned> helpers_awake_{0};
  std::atomic<unsigned> sleepers_{0};
  std::atomic<std::uint32_t> wake_ticket_{0};
  std::vector<std::jthread> helpers_;
};

/// One replica's door to the pool. Used by the replica's own thread only.
class thread_pool::lane {
public:
  /// `max_threads` bounds the threads that work on one region of this lane, its own included; 0 means all.
  explicit lane(thread_pool& pool, unsigned max_threads = 0);
  ~lane();
  lane(const lane&) = delete;
  lane& operator=(const lane&) = delete;

  /// Threads that may work on a region; use it to size chunks.
  [[nodiscard]] unsigned threads() const { return max_threads_; }

  /// While one exists, regions of this lane may be helped. `deadline` orders lanes: smaller is more urgent
  /// (microseconds on any one clock, the same for all lanes).
  class step {
  public:
    step(lane& owner, std::int64_t deadline);
    ~step();
    step(const step&) = delete;
    step& operator=(const step&) = delete;

  private:
    lane& owner_;
  };

  /// Calls `body(i)` for each i in [0, chunks), on this thread and on helpers, and returns when all are done.
  /// `body` must not throw and must not start a region of the same lane. At most 2^20-1 chunks.
  template <class Body>
  void parallel(std::int64_t chunks, Body&& body) {
    using body_type = std::remove_reference_t<Body>;
    run(chunks, [](void* context, std::int64_t i) { (*static_cast<body_type*>(context))(i); },
        const_cast<void*>(static_cast<const void*>(&body)));
  }

private:
  friend class thread_pool;
  using chunk_function = void (*)(void*, std::int64_t);
  void run(std::int64_t chunks, chunk_function body, void* context);
  /// Claims and runs one chunk of the open region; false if there is none left.
  bool run_one();

  thread_pool& pool_;
  unsigned max_threads_;
  std::atomic<std::int64_t> deadline_{0};
  // The open region. `ticket_` packs its number, its chunk count and the next unclaimed chunk; a region is changed only
  // after all chunks were claimed and finished, and under an empty ticket, so a successful claim proves that `body_` and
  // `context_` were read whole.
  alignas(64) std::atomic<std::uint64_t> ticket_{0};
  std::atomic<chunk_function> body_{nullptr};
  std::atomic<void*> context_{nullptr};
  alignas(64) std::atomic<std::int64_t> unfinished_{0};
  std::atomic<unsigned> helping_{0}; // helpers that look at this lane now; the lane is destroyed only at zero
};

} // namespace omni
