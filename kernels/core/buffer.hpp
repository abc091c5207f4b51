#pragma once

#include "kernels/core/tensor.hpp"

#include <cstddef>
#include <memory>

namespace omni {

/// Owns a block of 64-byte aligned, zeroed memory. Pages of a large block are taken from the system when they are first
/// touched, so an unused part costs nothing. Movable, not copyable.
class buffer {
public:
  buffer() = default;
  explicit buffer(std::size_t bytes);

  [[nodiscard]] std::byte* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return !data_; }

  /// A view of this memory from byte `offset` on; it must fit.
  [[nodiscard]] tensor view(dtype type, shape extents, std::size_t offset = 0) const;

private:
  struct deleter {
    deleter() : mapped_bytes(0) {}
    explicit deleter(std::size_t mapped) : mapped_bytes(mapped) {}
    void operator()(std::byte* p) const;
    std::size_t mapped_bytes; // 0: from the heap
  };
  std::unique_ptr<std::byte, deleter> data_;
  std::size_t size_ = 0;
};

} // namespace omni
