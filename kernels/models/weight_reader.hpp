#pragma once

#include "kernels/layers/linear_layer.hpp"
#include "kernels/weights/checkpoint.hpp"

#include <string>

namespace omni {

/// Reads tensors of one checkpoint into one arena, which owns what is returned. Every problem is a `load_error` naming
/// file, tensor, expected and found.
class weight_reader {
public:
  /// `as_f32` turns every matrix into F32. All must outlive this.
  weight_reader(const checkpoint& file, bool as_f32, weight_arena& arena)
      : file_(file), as_f32_(as_f32), arena_(arena) {}

  /// The tensor `name` of exactly that shape, as F32.
  [[nodiscard]] const float* floats(const std::string& name, const shape& extents);
  /// The matrix `module`.weight.
  [[nodiscard]] packed_weight matrix(const std::string& module, std::int64_t out, std::int64_t in);
  /// `module`.weight, and `module`.bias if there is to be one.
  [[nodiscard]] linear_weights linear(const std::string& module, std::int64_t out, std::int64_t in, bool bias);
  /// Rows [first, first + out) of the tensor `name`, counted over all axes but the last.
  [[nodiscard]] packed_weight part_of(const std::string& name, const shape& extents, std::int64_t first,
                                      std::int64_t out);
  /// A matrix that is not in the file as it is needed: `values` [out, in], row-major.
  [[nodiscard]] packed_weight pack(const tensor& values) { return pack_weight(values, as_f32_, arena_); }
  /// A copy of values that are not in the file as they are needed.
  [[nodiscard]] const float* keep(const tensor& values);

  [[nodiscard]] bool has(const std::string& name) const { return file_.find(name).has_value(); }
  [[nodiscard]] const checkpoint& file() const { return file_; }

private:
  const checkpoint& file_;
  bool as_f32_;
  weight_arena& arena_;
};

} // namespace omni
