#pragma once

#include "messages/report.hpp"

#include <cstdint>
#include <optional>

namespace omni {

/// A stream whose listener never waits longer than this in one piece counts as continuous.
inline constexpr double continuity_threshold_s = 0.1;

/// What a listener hears who starts at the first packet and plays at normal speed: how late the latest packet came.
/// Stamps are seconds on one monotonic clock.
class playback {
public:
  /// `frames` samples per channel have arrived. Empty packets change nothing.
  void packet(double now_s, std::int64_t frames, std::int32_t sample_rate);
  [[nodiscard]] bool started() const { return start_s_.has_value(); }
  /// Seconds by which a packet came after all sound before it had been played, at the worst.
  [[nodiscard]] double worst_deficit_s() const { return worst_s_; }
  /// The stream has ended: counts its worst deficit, if there was any sound.
  void close(audio_totals& into, bad_value_counts& bad) const;

private:
  std::optional<double> start_s_;
  double heard_s_ = 0; // sound delivered so far
  double worst_s_ = 0;
};

/// Counts the sound of one request: `frames` samples per channel that took `gen_time_s` in the stage. No frames means
/// that sound was asked for and none was made.
void count_sound(audio_totals& into, std::int64_t frames, std::int32_t sample_rate, double gen_time_s,
                 bad_value_counts& bad);

} // namespace omni
