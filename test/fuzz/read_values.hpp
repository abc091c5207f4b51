#pragma once

#include "kernels/weights/checkpoint.hpp"
#include "kernels/weights/convert.hpp"

#include <vector>

namespace omni::fuzz {

/// Reads every value of a checkpoint, so that a view that leaves its memory is seen.
inline void read_values(const checkpoint& file) {
  for (const auto& name : file.names()) {
    const auto view = file.get(name, file.find(name).value().extents);
    std::vector<float> values(static_cast<std::size_t>(view.values()));
    read_f32(view, values);
  }
}

} // namespace omni::fuzz
