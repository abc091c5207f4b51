#pragma once

#include "messages/clock.hpp"

#include <algorithm>
#include <cstdint>
#include <optional>

namespace omni {

/// When the facts that a sender gathers go to the stat logger. Plain data; the sender owns the facts and the clock.
///
/// Booking a step into a report takes nanoseconds, but a message that wakes a sleeping thread takes ten microseconds
/// and more. So facts go out ten times a second, and at once when somebody may look for them. Two reports are under way
/// at most; until one is acknowledged the sender gathers on, so a receiver that is slow or stuck costs neither memory
/// nor counts nor time.
class report_pace {
public:
  /// In how long what was gathered goes out: 0 is now; nothing: once a report was acknowledged. `urgent`: it must not
  /// wait for its turn.
  [[nodiscard]] std::optional<time_us> wait(time_us now, bool urgent) {
    urgent_ |= urgent;
    if (under_way_ == most_under_way) return std::nullopt;
    return urgent_ ? 0 : std::max<time_us>(0, next_ - now);
  }
  void sent(time_us now) {
    ++under_way_;
    urgent_ = false;
    next_ = now + interval_us;
  }
  void acknowledged() { --under_way_; }

private:
  static constexpr time_us interval_us = 100'000;
  static constexpr int most_under_way = 2; // the answer to one often waits behind the step that makes the next
  int under_way_ = 0;
  bool urgent_ = false;
  time_us next_ = 0;
};

} // namespace omni
