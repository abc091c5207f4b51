#include "kernels/core/workspace.hpp"

#include <algorithm>

namespace omni {

tensor workspace::take(dtype type, shape extents) {
  const tensor probe(static_cast<void*>(nullptr), type, extents);
  const std::size_t bytes = (static_cast<std::size_t>(probe.bytes()) + 63) / 64 * 64;
  while (chunk_ < chunks_.size() && used_ + bytes > chunks_[chunk_].size()) {
    ++chunk_;
    used_ = 0;
  }
  if (chunk_ == chunks_.size()) {
    constexpr std::size_t smallest = std::size_t{1} << 20;
    chunks_.emplace_back(std::max({smallest, bytes, held_bytes()}));
    used_ = 0;
  }
  tensor t(chunks_[chunk_].data() + used_, type, extents);
  used_ += bytes;
  return t;
}

std::size_t workspace::held_bytes() const {
  std::size_t sum = 0;
  for (const auto& chunk : chunks_) sum += chunk.size();
  return sum;
}

} // namespace omni
