#pragma once

#include "kernels/weights/onnx_file.hpp"

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace omni {

/// What an ONNX file holds, read and checked. Views point into the file or into `owners`.
struct onnx_model {
  std::vector<onnx_node> nodes;
  std::vector<std::string_view> inputs; // without initializers
  std::vector<std::string_view> outputs;
  std::vector<std::pair<std::string, tensor>> initializers;
  std::vector<std::shared_ptr<const void>> owners; // unpacked numbers and mapped files of external data
};

/// Reads a ModelProto. External data is looked for in `folder` and refused when that is empty. Throws `load_error`;
/// never reads outside of `bytes` and the files it maps.
onnx_model read_onnx_model(std::span<const std::byte> bytes, const std::string& where,
                           const std::filesystem::path& folder);

} // namespace omni
