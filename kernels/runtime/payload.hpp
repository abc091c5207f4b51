#pragma once

#include "kernels/core/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace omni {

/// What one stage hands to the next, or a final stage to the listener. Immutable once sent: it travels as
/// `shared_ptr<const payload>` inside a process and as bytes between processes.
struct payload {
  enum class kind : std::uint8_t {
    text,    // `text`: a piece of UTF-8, cut at character borders
    tokens,  // `bytes`: [rows] I32, ids of a text vocabulary
    rows,    // `bytes`: [rows, width] of `type`, e.g. vocoder frames or embeddings
    samples, // `bytes`: [rows, width] of `type`, sound: rows = samples per channel, width = channels
  };
  kind what = kind::text;
  std::string text;
  std::vector<std::byte> bytes;
  dtype type = dtype::f32;
  std::int64_t rows = 0;
  std::int64_t width = 0;
  std::int32_t sample_rate = 0; // Hz, for samples
  bool ends_segment = false;    // rows: a sentence ends here, so a vocoder flushes its state after them

  /// `count` values of F32, row-major [rows, width]; the kind must be `rows` or `samples`.
  [[nodiscard]] const float* f32() const { return reinterpret_cast<const float*>(bytes.data()); }
};

} // namespace omni
