#include "app/http/exchange.hpp"

#include <utility>

namespace omni::http {

exchange::exchange(std::unique_ptr<channel> to_connection, std::size_t stream_bytes, response when_dropped)
    : to_connection_(std::move(to_connection)), stream_bytes_(stream_bytes), when_dropped_(std::move(when_dropped)) {}

std::shared_ptr<responder> exchange::open_handle() {
  // The deleter lives as long as `handle_`, so it must let go of the exchange when it is called.
  std::shared_ptr<responder> handle(
      this, [self = shared_from_this()](responder*) mutable { std::exchange(self, nullptr)->dropped(); });
  handle_ = handle;
  return handle;
}

void exchange::dropped() {
  send(std::move(when_dropped_)); // nothing if it was answered
  abandon();                      // nothing unless a stream is open
}

void exchange::send(response what) {
  {
    std::lock_guard lock(mutex_);
    if (phase_ != phase::unanswered) return;
    phase_ = phase::answered;
  }
  to_connection_->send(std::move(what));
}

std::shared_ptr<stream_writer> exchange::stream(response head) {
  bool begin = false;
  {
    std::lock_guard lock(mutex_);
    if (phase_ == phase::unanswered) {
      phase_ = phase::streaming;
      flush_asked_ = true; // the connection takes what waits once the head is sent
      begin = true;
    }
  }
  if (begin) to_connection_->begin_stream(std::move(head));
  return {handle_.lock(), static_cast<stream_writer*>(this)};
}

void exchange::on_close(std::function<void()> gone) {
  {
    std::lock_guard lock(mutex_);
    if (!client_gone_) {
      if (phase_ != phase::closed) gone_ = std::move(gone);
      return;
    }
  }
  gone();
}

bool exchange::write(std::string_view bytes) {
  enum class then { nothing, flush, cut } ask = then::nothing;
  {
    std::lock_guard lock(mutex_);
    if (phase_ != phase::streaming || finished_) return false;
    if (bytes.size() > stream_bytes_ - waiting_.size()) {
      phase_ = phase::closed;
      waiting_ = {};
      ask = then::cut;
    } else {
      waiting_.append(bytes);
      if (!std::exchange(flush_asked_, true)) ask = then::flush;
    }
  }
  if (ask == then::flush) to_connection_->flush();
  if (ask == then::cut) to_connection_->cut();
  return ask != then::cut;
}

void exchange::finish() {
  bool ask = false;
  {
    std::lock_guard lock(mutex_);
    if (phase_ != phase::streaming || finished_) return;
    finished_ = true;
    ask = !std::exchange(flush_asked_, true);
  }
  if (ask) to_connection_->flush();
}

void exchange::abandon() {
  {
    std::lock_guard lock(mutex_);
    if (phase_ != phase::streaming || finished_) return;
    phase_ = phase::closed;
    waiting_ = {};
  }
  to_connection_->cut();
}

exchange::progress exchange::take(std::string& out) {
  std::lock_guard lock(mutex_);
  out.clear();
  out.swap(waiting_);
  if (!out.empty()) return progress::more;
  if (finished_) return progress::ended;
  flush_asked_ = false;
  return progress::idle;
}

void exchange::complete() {
  std::function<void()> unused; // destroyed outside of the lock
  std::lock_guard lock(mutex_);
  phase_ = phase::closed;
  unused.swap(gone_);
}

void exchange::client_gone() {
  std::function<void()> gone;
  {
    std::lock_guard lock(mutex_);
    if (client_gone_) return;
    client_gone_ = true;
    phase_ = phase::closed;
    waiting_ = {};
    gone.swap(gone_);
  }
  if (gone) gone();
}

} // namespace omni::http
