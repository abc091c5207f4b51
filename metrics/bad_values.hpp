#pragma once

#include "metrics/engine_series.hpp"

#include <array>

namespace omni {

/// The one family that counts values which cannot be. All its series exist from the start.
class bad_value_series {
public:
  bad_value_series(metric_registry& registry, const common_labels& labels, double wall_s);
  void add(const bad_value_counts& more);

private:
  std::array<prometheus::Counter*, bad_value_kinds> kinds_{};
};

} // namespace omni
