#pragma once

#include "metrics/snapshot.hpp"
#include "metrics/text_format.hpp"

#include <prometheus/counter.h>
#include <prometheus/family.h>
#include <prometheus/gauge.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include <array>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace omni {

/// Holds every series (in prometheus-cpp's own objects) and the order in which the page shows them, which
/// prometheus-cpp forgets. Used by one thread. References that it hands out live as long as it does.
class metric_registry {
public:
  /// `created_series`: whether the page has `_created` lines.
  explicit metric_registry(bool created_series) : created_series_(created_series) {}

  /// Shows the heads of a group's families, in this and all later snapshots. Again changes nothing.
  void open(family_group group);
  /// A new series of an open family, made at `wall_s` (seconds since 1970). Its labels must be new in the family.
  prometheus::Counter& counter(family_id id, const label_set& labels, double wall_s);
  prometheus::Gauge& gauge(family_id id, const label_set& labels, double wall_s);
  /// Histograms and summaries. `bounds`: ascending upper bounds, without the unbounded bucket.
  prometheus::Histogram& histogram(family_id id, const label_set& labels, std::span<const double> bounds,
                                   double wall_s);

  /// The page of this moment.
  [[nodiscard]] snapshot take();

private:
  using child = std::variant<prometheus::Counter*, prometheus::Gauge*, prometheus::Histogram*>;
  using family_pointer =
      std::variant<std::monostate, prometheus::Family<prometheus::Counter>*, prometheus::Family<prometheus::Gauge>*,
                   prometheus::Family<prometheus::Histogram>*>;
  struct slot {
    family_pointer open; // nothing: not on the page
    std::vector<child> children;
    std::vector<std::shared_ptr<const series_text>> texts;
  };

  slot& opened(family_id id);
  void remember(slot& in, child made, family_id id, const label_set& labels, std::span<const double> bounds,
                double wall_s);
  std::shared_ptr<const std::vector<family_text>> build_texts() const;

  bool created_series_;
  prometheus::Registry registry_;
  std::array<slot, std::size_t(family_id::http_duration) + 1> slots_;
  std::shared_ptr<const std::vector<family_text>> texts_; // null: a series or family was added since it was built
  std::size_t lines_ = 0;
};

} // namespace omni
