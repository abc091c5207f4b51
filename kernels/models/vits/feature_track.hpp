#pragma once

#include "kernels/core/buffer.hpp"

#include <cstdint>

namespace omni::vits {

/// Feature rows of one sentence on an absolute time axis that starts at 0. Rows before 0 and, once the track is closed,
/// after its end read as zeros: the padding of the convolutions. Only a window is kept, so the memory of a stream does
/// not grow with its length. One thread at a time.
class feature_track {
public:
  /// `before` and `after`: rows of zeros that readers may touch on either side.
  feature_track(std::int64_t channels, std::int64_t before, std::int64_t after);

  [[nodiscard]] std::int64_t channels() const { return channels_; }
  /// Rows known so far are those of times [0, end).
  [[nodiscard]] std::int64_t end() const { return end_; }
  [[nodiscard]] bool closed() const { return closed_; }

  /// The row of that time; rows on are dense. Times from the last `forget_before` (or -before) on are there.
  [[nodiscard]] float* row(std::int64_t time) const;

  /// Makes rows up to `time` writable, whose values are whatever was there. Rows may move.
  void reserve(std::int64_t time);
  /// Says that the rows up to `time`, reserved before, have been written.
  void advance(std::int64_t time);
  /// No row follows: the rows after the end become zeros.
  void close();
  /// No reader needs rows before `time` any more.
  void forget_before(std::int64_t time);

private:
  [[nodiscard]] std::int64_t capacity() const;

  std::int64_t channels_;
  std::int64_t after_;
  std::int64_t first_; // time of the first stored row
  std::int64_t keep_;  // time of the first row still needed
  std::int64_t end_ = 0;
  bool closed_ = false;
  buffer rows_;
};

} // namespace omni::vits
