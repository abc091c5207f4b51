#pragma once

#include "kernels/core/check.hpp"
#include "kernels/core/dtype.hpp"

#include <array>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace omni {

/// Extents of up to four axes, slowest first (row major).
class shape {
public:
  shape() = default;
  shape(std::initializer_list<std::int64_t> extents) {
    OMNI_CHECK(extents.size() <= 4, "a tensor has at most four axes");
    for (auto extent : extents) extents_[rank_++] = extent;
  }

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] std::int64_t operator[](int axis) const { return extents_[axis]; }
  [[nodiscard]] std::int64_t back() const { return rank_ == 0 ? 1 : extents_[rank_ - 1]; }
  /// Number of values; 1 for rank 0.
  [[nodiscard]] std::int64_t values() const {
    std::int64_t n = 1;
    for (int i = 0; i < rank_; ++i) n *= extents_[i];
    return n;
  }
  /// Number of rows, i.e. of values over all axes but the last.
  [[nodiscard]] std::int64_t rows() const { return back() == 0 ? 0 : values() / back(); }
  void append(std::int64_t extent) {
    OMNI_CHECK(rank_ < 4, "a tensor has at most four axes");
    extents_[rank_++] = extent;
  }
  friend bool operator==(const shape& a, const shape& b) {
    if (a.rank_ != b.rank_) return false;
    for (int i = 0; i < a.rank_; ++i)
      if (a.extents_[i] != b.extents_[i]) return false;
    return true;
  }

private:
  std::array<std::int64_t, 4> extents_{};
  int rank_ = 0;
};

/// "[2, 576]", for messages.
std::string to_string(const shape& extents);

/// A view of contiguous row-major values that somebody else owns (a `buffer`, a mapped file, a workspace).
/// Copying a tensor copies the view. Ops say in their argument struct which tensors they write.
struct tensor {
  void* data = nullptr;
  dtype type = dtype::f32;
  shape extents;

  tensor() = default;
  tensor(void* values, dtype value_type, shape sizes) : data(values), type(value_type), extents(sizes) {}
  tensor(float* values, shape sizes) : tensor(values, dtype::f32, sizes) {}
  tensor(std::int32_t* values, shape sizes) : tensor(values, dtype::i32, sizes) {}

  [[nodiscard]] bool empty() const { return data == nullptr; }
  [[nodiscard]] std::int64_t operator[](int axis) const { return extents[axis]; }
  [[nodiscard]] std::int64_t rows() const { return extents.rows(); }
  [[nodiscard]] std::int64_t columns() const { return extents.back(); }
  [[nodiscard]] std::int64_t values() const { return extents.values(); }
  [[nodiscard]] std::int64_t bytes() const { return rows() * row_bytes(type, columns()); }

  /// The values as `float*` / `int32_t*`; the type must match.
  [[nodiscard]] float* f32() const {
    OMNI_CHECK(type == dtype::f32, "tensor is not F32");
    return static_cast<float*>(data);
  }
  [[nodiscard]] std::int32_t* i32() const {
    OMNI_CHECK(type == dtype::i32, "tensor is not I32");
    return static_cast<std::int32_t*>(data);
  }
};

} // namespace omni
