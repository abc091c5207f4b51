#pragma once

#include <chrono>

namespace omni::serve {

/// SIGTERM and SIGINT as something to wait for. Make it before any thread is started, so that all threads block the
/// signals.
class stop_signals {
public:
  stop_signals();
  ~stop_signals();
  stop_signals(const stop_signals&) = delete;
  stop_signals& operator=(const stop_signals&) = delete;

  /// Waits for a signal and returns its number.
  int wait();
  enum class outcome { finished, signalled, timed_out };
  /// Waits until `finish` was called, another signal came, or the time is over.
  outcome wait_for_finish(std::chrono::milliseconds most);
  /// Ends `wait_for_finish`; any thread.
  void finish();

private:
  int take();
  int signals_ = -1;  // signalfd
  int finished_ = -1; // eventfd
};

} // namespace omni::serve
