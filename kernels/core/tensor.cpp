#include "kernels/core/tensor.hpp"

namespace omni {

std::string to_string(const shape& extents) {
  std::string text = "[";
  for (int i = 0; i < extents.rank(); ++i) {
    if (i > 0) text += ", ";
    text += std::to_string(extents[i]);
  }
  return text + "]";
}

} // namespace omni
