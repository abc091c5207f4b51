#include "kernels/models/vits/feature_track.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>
#include <cstring>

namespace omni::vits {
namespace {
std::size_t bytes_of(std::int64_t rows, std::int64_t channels) {
  return static_cast<std::size_t>(rows * channels) * sizeof(float);
}
} // namespace

feature_track::feature_track(std::int64_t channels, std::int64_t before, std::int64_t after)
    : channels_(channels), after_(after), first_(-before), keep_(-before) {
  reserve(0); // fresh memory is zero, which is what lies before time 0
}

std::int64_t feature_track::capacity() const {
  return static_cast<std::int64_t>(rows_.size() / (static_cast<std::size_t>(channels_) * sizeof(float)));
}

float* feature_track::row(std::int64_t time) const {
  OMNI_CHECK(time >= first_ && time <= first_ + capacity(), "a row was asked for that is not kept");
  return reinterpret_cast<float*>(rows_.data()) + (time - first_) * channels_;
}

void feature_track::reserve(std::int64_t time) {
  const auto wanted_end = std::max(time, end_) + after_;
  if (wanted_end - first_ <= capacity()) return;
  const auto kept = std::max<std::int64_t>(0, end_ - keep_);
  if (wanted_end - keep_ <= capacity()) {
    std::memmove(rows_.data(), row(keep_), bytes_of(kept, channels_));
  } else {
    buffer larger(bytes_of(std::max(wanted_end - keep_, std::min<std::int64_t>(2 * capacity(), 1 << 16)), channels_));
    if (!rows_.empty()) std::memcpy(larger.data(), row(keep_), bytes_of(kept, channels_));
    rows_ = std::move(larger);
  }
  first_ = keep_;
}

void feature_track::advance(std::int64_t time) {
  OMNI_CHECK(!closed_ && time >= end_, "time only moves on");
  end_ = time;
}

void feature_track::close() {
  reserve(end_);
  std::memset(row(end_), 0, bytes_of(after_, channels_));
  closed_ = true;
}

void feature_track::forget_before(std::int64_t time) {
  // Before the first row comes, whoever writes it may begin left of time 0.
  if (end_ > 0) keep_ = std::max(keep_, std::min(time, end_));
}

} // namespace omni::vits
