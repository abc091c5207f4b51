#pragma once

#include "kernels/weights/tensor_layout.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace omni {

/// One safetensors file, read and checked.
struct safetensors_content {
  std::vector<tensor_entry> tensors; // begin and end relative to `data`; together they cover it without gap or overlap
  std::span<const std::byte> data;
};

/// Reads the header. Throws `load_error`; never reads outside of `bytes`.
safetensors_content read_safetensors_header(std::span<const std::byte> bytes, const std::string& where);

} // namespace omni
