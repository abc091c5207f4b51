#include "kernels/core/buffer.hpp"

#include <cstdlib>
#include <cstring>
#include <new>
#include <sys/mman.h>

namespace omni {

buffer::buffer(std::size_t bytes) : size_(bytes) {
  if (bytes == 0) return;
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  const std::size_t rounded = (bytes + 63) / 64 * 64;
  if (rounded >= huge_page) {
    void* p = ::mmap(nullptr, rounded, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (p == MAP_FAILED) throw std::bad_alloc();
    ::madvise(p, rounded, MADV_HUGEPAGE);
    data_ = {static_cast<std::byte*>(p), deleter{rounded}};
    return;
  }
  data_ = {static_cast<std::byte*>(std::aligned_alloc(64, rounded)), deleter{}};
  if (!data_) throw std::bad_alloc();
  std::memset(data_.get(), 0, rounded);
}

void buffer::deleter::operator()(std::byte* p) const {
  if (mapped_bytes > 0)
    ::munmap(p, mapped_bytes);
  else
    std::free(p);
}

tensor buffer::view(dtype type, shape extents, std::size_t offset) const {
  tensor t(data_.get() + offset, type, extents);
  OMNI_CHECK(offset + static_cast<std::size_t>(t.bytes()) <= size_, "a view exceeds its buffer");
  return t;
}

} // namespace omni
