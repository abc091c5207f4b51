#include "metrics/playback.hpp"

#include <algorithm>

namespace omni {

void playback::packet(double now_s, std::int64_t frames, std::int32_t sample_rate) {
  if (frames <= 0 || sample_rate <= 0) return;
  if (!start_s_) start_s_ = now_s;
  worst_s_ = std::max(worst_s_, now_s - *start_s_ - heard_s_);
  heard_s_ += double(frames) / sample_rate;
}

void playback::close(audio_totals& into, bad_value_counts& bad) const {
  if (!started()) return;
  into.underrun.add(worst_s_, bad);
  if (worst_s_ <= continuity_threshold_s) ++into.continuity_ok;
}

void count_sound(audio_totals& into, std::int64_t frames, std::int32_t sample_rate, double gen_time_s,
                 bad_value_counts& bad) {
  if (frames <= 0 || sample_rate <= 0) {
    ++into.skipped;
    return;
  }
  const double duration_s = double(frames) / sample_rate;
  into.frames += frames;
  into.duration.add(duration_s, bad);
  into.rtf.add(gen_time_s / duration_s, bad);
}

} // namespace omni
