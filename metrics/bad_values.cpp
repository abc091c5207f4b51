#include "metrics/bad_values.hpp"

namespace omni {

bad_value_series::bad_value_series(metric_registry& registry, const common_labels& labels, double wall_s) {
  static_assert(std::size(bad_value_labels) == bad_value_kinds);
  registry.open(family_group::own);
  for (std::size_t i = 0; i < bad_value_kinds; ++i) {
    const label_set all = with(labels.of_model(), "kind", bad_value_labels[i]);
    kinds_[i] = &registry.counter(family_id::bad_values, all, wall_s);
  }
}

void bad_value_series::add(const bad_value_counts& more) {
  for (std::size_t i = 0; i < bad_value_kinds; ++i)
    if (more[i] > 0) kinds_[i]->Increment(double(more[i]));
}

} // namespace omni
