#pragma once

#include "kernels/core/tensor.hpp"

#include <functional>
#include <string>

namespace omni {

/// Sees inner tensors of a step, by name ("layers.3.attn_out"), while they are valid. For tests; null in production.
using tensor_observer = std::function<void(const std::string& name, const tensor& value)>;

/// An observer of one layer; does nothing when there is none.
struct layer_observer {
  const tensor_observer* to = nullptr;
  std::int64_t layer = 0;

  void operator()(const char* name, const tensor& value) const {
    if (to != nullptr && *to) (*to)("layers." + std::to_string(layer) + "." + name, value);
  }
};

} // namespace omni
