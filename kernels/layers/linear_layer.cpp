#include "kernels/layers/linear_layer.hpp"

namespace omni {

linear_part linear_rows::times(const linear_weights& w) {
  const bool quantised = wants_quantised(w.weight);
  linear_input& input = made_[quantised ? 1 : 0];
  if (input.data == nullptr) {
    input = prepare_linear({x_, quantised, norm_ ? &*norm_ : nullptr}, context_);
    norm_.reset();
  }
  return {&input, &w.weight, w.bias};
}

} // namespace omni
