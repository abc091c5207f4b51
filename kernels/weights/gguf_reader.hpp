#pragma once

#include "kernels/weights/gguf_metadata.hpp"
#include "kernels/weights/tensor_layout.hpp"

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace omni {

/// One file of GGUF, read and checked.
struct gguf_part {
  gguf_metadata metadata;
  std::vector<tensor_entry> tensors; // begin and end relative to `data`, inside of it, not overlapping
  std::span<const std::byte> data;
};

/// Reads header, metadata and tensor table of one file. Throws `load_error`; never reads outside of `bytes`.
gguf_part read_gguf_part(std::span<const std::byte> bytes, const std::string& where);

} // namespace omni
