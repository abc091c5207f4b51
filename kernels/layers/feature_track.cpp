#include "kernels/layers/feature_track.hpp"

#include "kernels/core/check.hpp"

#include <algorithm>

namespace omni {

feature_track::feature_track(std::int64_t channels, std::int64_t before, std::int64_t after)
    : channels_(channels), after_(after), keep_(-before), kept_(static_cast<std::size_t>(before * channels)) {
} // zeros left of time 0

void feature_track::attach(workspace& scratch) {
  scratch_ = &scratch;
  first_ = keep_;
  const auto kept_rows = static_cast<std::int64_t>(kept_.size()) / channels_;
  capacity_ = std::max(capacity_, kept_rows);
  rows_ = scratch.floats(capacity_ * channels_);
  std::copy(kept_.begin(), kept_.end(), rows_);
}

void feature_track::detach() {
  const float* from = row(keep_);
  kept_.assign(from, from + rows_to_keep() * channels_);
  scratch_ = nullptr;
  rows_ = nullptr;
}

std::int64_t feature_track::rows_to_keep() const { return end_ - keep_ + (closed_ ? after_ : 0); }

float* feature_track::row(std::int64_t time) const {
  OMNI_CHECK(rows_ != nullptr && time >= first_ && time <= first_ + capacity_, "a row was asked for that is not there");
  return rows_ + (time - first_) * channels_;
}

void feature_track::reserve(std::int64_t time) {
  const auto wanted = std::max(time, end_) + after_;
  if (wanted - first_ <= capacity_) return;
  const float* from = row(keep_);
  const auto rows = rows_to_keep();
  if (wanted - keep_ > capacity_) {
    capacity_ = wanted - keep_;
    rows_ = scratch_->floats(capacity_ * channels_);
  }
  std::copy(from, from + rows * channels_, rows_); // to lower addresses, or to other memory
  first_ = keep_;
}

void feature_track::advance(std::int64_t time) {
  OMNI_CHECK(!closed_ && time >= end_, "time only moves on");
  end_ = time;
}

void feature_track::close() {
  reserve(end_);
  std::fill_n(row(end_), after_ * channels_, 0.0F);
  closed_ = true;
}

void feature_track::forget_before(std::int64_t time) {
  // Before the first row comes, whoever writes it may begin left of time 0.
  if (end_ > 0) keep_ = std::max(keep_, std::min(time, end_));
}

} // namespace omni
