#pragma once

#include "kernels/core/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace omni::test {

/// A matrix [rows, columns] of any type with random bytes that are sound numbers, as in a file.
class random_matrix {
public:
  random_matrix(dtype type, std::int64_t rows, std::int64_t columns, std::uint32_t seed);
  /// Valid as long as this object.
  [[nodiscard]] tensor view() const { return {const_cast<std::byte*>(bytes_.data()), type_, extents_}; }
  /// The values, row-major.
  [[nodiscard]] std::vector<float> values() const;

private:
  dtype type_;
  shape extents_;
  std::vector<std::byte> bytes_;
};

} // namespace omni::test
