#include "app/http/worker_pool.hpp"

#include <atomic>
#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <pthread.h>
#include <utility>

namespace omni::http {

struct worker_pool::impl {
  impl(std::size_t threads, std::size_t most, std::string as) : max_waiting(most), name(std::move(as)), pool(threads) {}
  const std::size_t max_waiting;
  const std::string name;
  std::atomic<std::size_t> waiting{0};
  boost::asio::thread_pool pool; // last: its threads use the others
};

worker_pool::worker_pool(std::size_t threads, std::size_t max_waiting, std::string name)
    : impl_(std::make_unique<impl>(threads, max_waiting, std::move(name))) {}

worker_pool::~worker_pool() {
  impl_->pool.stop();
  impl_->pool.join();
}

bool worker_pool::post(std::function<void()> job) {
  if (impl_->waiting.fetch_add(1) >= impl_->max_waiting) {
    impl_->waiting.fetch_sub(1);
    return false;
  }
  boost::asio::post(impl_->pool, [state = impl_.get(), run = std::move(job)] {
    state->waiting.fetch_sub(1);
    pthread_setname_np(pthread_self(), state->name.c_str());
    run();
  });
  return true;
}

} // namespace omni::http
