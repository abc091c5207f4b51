#pragma once

#include "kernels/core/tensor.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace omni {

/// What a file says of one tensor; nothing of it is checked yet.
struct tensor_entry {
  std::string name;
  dtype type = dtype::f32;
  std::vector<std::uint64_t> extents; // slowest axis first
  std::uint64_t begin = 0;            // first byte, relative to the file's data
  std::uint64_t end = 0;              // one past the last byte
};

/// Bytes that the values take. Throws `load_error` when there are more than eight axes, a size overflows, or a row is
/// no whole number of blocks.
std::uint64_t checked_bytes(const std::string& where, const tensor_entry& entry);

/// The view of an entry that `checked_bytes` has passed; `data` are its values. Axes after the fourth join it.
tensor view_of(const tensor_entry& entry, const std::byte* data);

/// Pointers to the entries in the order of their bytes. Throws `load_error` when two overlap.
std::vector<const tensor_entry*> in_file_order(const std::string& where, const std::vector<tensor_entry>& entries);

} // namespace omni
