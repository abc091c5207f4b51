#pragma once

#include "kernels/core/dtype.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
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
  bool ends_segment = false;    // rows: a sentence ends here, so a vocoder flushes its state after them;
                                // tokens: the prompt ends here

  /// `count` values of F32, row-major [rows, width]; the kind must be `rows` or `samples`.
  [[nodiscard]] const float* f32() const { return reinterpret_cast<const float*>(bytes.data()); }
  /// The same for I32.
  [[nodiscard]] const std::int32_t* i32() const { return reinterpret_cast<const std::int32_t*>(bytes.data()); }
  /// Whether this is what a stage reads: [rows, row_width] of that kind and type, all there.
  [[nodiscard]] bool holds(kind wanted, dtype value_type, std::int64_t row_width) const {
    return what == wanted && type == value_type && width == row_width && rows >= 0 && row_width > 0 &&
           bytes.size() / static_cast<std::size_t>(row_bytes(value_type, row_width)) == static_cast<std::size_t>(rows);
  }
};

/// A payload of [values / width, width] F32 or I32.
template <class T>
std::shared_ptr<payload> make_payload(payload::kind what, std::span<const T> values, std::int64_t width) {
  static_assert(std::is_same_v<T, float> || std::is_same_v<T, std::int32_t>);
  auto made = std::make_shared<payload>();
  made->what = what;
  made->type = std::is_same_v<T, float> ? dtype::f32 : dtype::i32;
  made->rows = static_cast<std::int64_t>(values.size()) / width;
  made->width = width;
  made->bytes.resize(values.size_bytes());
  if (!values.empty()) std::memcpy(made->bytes.data(), values.data(), values.size_bytes());
  return made;
}

} // namespace omni
