#pragma once

#include "kernels/core/workspace.hpp"

#include <cstdint>
#include <vector>

namespace omni {

/// Feature rows of one sentence on an absolute time axis that starts at 0. Rows before 0 and, once the track is closed,
/// after its end read as zeros: the padding of the convolutions.
///
/// Between steps only the rows that are still needed are held, so a waiting stream costs little and its memory does not
/// grow with its length; during a step, from `attach` to `detach`, rows live in scratch memory. One thread at a time.
class feature_track {
public:
  /// `before` and `after`: rows of zeros that readers may touch on either side.
  feature_track(std::int64_t channels, std::int64_t before, std::int64_t after);

  /// Moves the rows to scratch memory, which must stay valid until `detach`.
  void attach(workspace& scratch);
  /// Keeps the rows that are still needed and lets go of the scratch memory.
  void detach();

  [[nodiscard]] std::int64_t channels() const { return channels_; }
  /// Rows known so far are those of times [0, end).
  [[nodiscard]] std::int64_t end() const { return end_; }
  [[nodiscard]] bool closed() const { return closed_; }

  // While attached:
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
  /// Rows from `keep_` on that hold something: values, or zeros around them.
  [[nodiscard]] std::int64_t rows_to_keep() const;

  std::int64_t channels_;
  std::int64_t after_;
  std::int64_t keep_; // time of the first row still needed
  std::int64_t end_ = 0;
  bool closed_ = false;
  std::vector<float> kept_; // detached: the rows from keep_ on

  workspace* scratch_ = nullptr; // attached
  float* rows_ = nullptr;        // [capacity, channels]
  std::int64_t capacity_ = 0;    // rows; of the last step while detached
  std::int64_t first_ = 0;       // time of the first of them
};

} // namespace omni
