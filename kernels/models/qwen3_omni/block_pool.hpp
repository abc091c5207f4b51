#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

namespace omni::qwen3_omni {

/// KV blocks that no sequence holds; those given back last are taken first, so that few pages are touched.
class block_pool {
public:
  explicit block_pool(std::int32_t blocks) : total_(blocks) {
    for (std::int32_t b = blocks; b > 0; --b) free_.push_back(b - 1);
  }
  /// Grows `held` to `wanted` blocks; false if there are not enough, and then nothing is taken.
  [[nodiscard]] bool grow(std::vector<std::int32_t>& held, std::size_t wanted) {
    if (wanted <= held.size()) return true;
    if (wanted - held.size() > free_.size()) return false;
    for (; held.size() < wanted; free_.pop_back()) held.push_back(free_.back());
    return true;
  }
  void give_back(std::vector<std::int32_t>& held) {
    free_.insert(free_.end(), held.rbegin(), held.rend());
    held.clear();
  }
  [[nodiscard]] std::size_t free() const { return free_.size(); }
  /// Fraction of the blocks that sequences hold.
  [[nodiscard]] double usage() const {
    return 1.0 - static_cast<double>(free_.size()) / static_cast<double>(std::max(total_, 1));
  }

private:
  std::int32_t total_;
  std::vector<std::int32_t> free_;
};

} // namespace omni::qwen3_omni
