#pragma once

#include "kernels/weights/safetensors_file.hpp"

#include <cstdint>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace omni::test {

/// One case of the golden data: the tensors of NAME.safetensors and the scalars and text of NAME.json.
/// A missing tensor or a wrong type is a `load_error` that names file and tensor.
class golden_case {
public:
  /// `path` is NAME.safetensors or NAME.json.
  explicit golden_case(const std::filesystem::path& path);

  /// NAME, for SCOPED_TRACE.
  [[nodiscard]] const std::string& name() const { return name_; }
  [[nodiscard]] const nlohmann::json& json() const { return json_; }
  [[nodiscard]] const safetensors_file& tensors() const { return *tensors_; }

  [[nodiscard]] bool has(const std::string& tensor_name) const { return tensors_->find(tensor_name).has_value(); }
  [[nodiscard]] shape extents(const std::string& tensor_name) const;
  /// Copies of all values.
  [[nodiscard]] std::vector<float> f32(const std::string& tensor_name) const;
  [[nodiscard]] std::vector<std::int32_t> i32(const std::string& tensor_name) const;
  [[nodiscard]] std::vector<std::uint8_t> u8(const std::string& tensor_name) const;

private:
  std::string name_;
  std::shared_ptr<const safetensors_file> tensors_;
  nlohmann::json json_;
};

/// All cases directly in `folder` (relative to golden_dir()) whose NAME begins with `prefix`, sorted; throws when there
/// is none.
std::vector<golden_case> golden_cases(const std::string& folder, const std::string& prefix = "");

} // namespace omni::test
