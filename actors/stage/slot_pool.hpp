#pragma once

#include "kernels/runtime/batch.hpp"

#include <algorithm>
#include <vector>

namespace omni {

/// Hands out the lowest free sequence slot, so that runners can index arrays by slot.
class slot_pool {
public:
  sequence_slot take() {
    const auto free = std::find(taken_.begin(), taken_.end(), false);
    const auto slot = sequence_slot(free - taken_.begin());
    if (free == taken_.end()) {
      taken_.push_back(true);
    } else {
      *free = true;
    }
    return slot;
  }
  void give_back(sequence_slot slot) { taken_[std::size_t(slot)] = false; }

private:
  std::vector<bool> taken_;
};

} // namespace omni
