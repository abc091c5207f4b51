#pragma once

#include "messages/clock.hpp"

namespace omni {

/// When a listener will have heard all that was made for them, if they started at the first packet: the time by which
/// more is due.
class playback_clock {
public:
  /// `start_budget` after `began` the first packet is due.
  playback_clock(time_us began, time_us start_budget) : due_(began + start_budget) {}

  /// `seconds` of sound were handed on at `now`. Who ran dry starts again from here.
  void deliver(double seconds, time_us now) {
    if (seconds <= 0) return;
    if (!started_ || due_ < now) due_ = now;
    started_ = true;
    due_ += in_us(seconds);
  }
  [[nodiscard]] time_us due() const { return due_; }
  [[nodiscard]] bool started() const { return started_; }

private:
  time_us due_;
  bool started_ = false;
};

} // namespace omni
