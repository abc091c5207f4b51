#include "metrics/metric_registry.hpp"

#include "kernels/core/check.hpp"

#include <map>

namespace omni {
namespace {

template <class Builder>
auto& build(Builder builder, const family& row, prometheus::Registry& registry) {
  return builder.Name(std::string(row.name)).Help(std::string(row.help)).Register(registry);
}

std::map<std::string, std::string> as_map(const label_set& labels) { return {labels.begin(), labels.end()}; }

// Summaries are histograms without bounds: their count and sum are all that is shown.
void append_values(const prometheus::Histogram& from, bool with_buckets, std::vector<double>& to) {
  const auto all = from.Collect().histogram;
  if (with_buckets)
    for (const auto& bucket : all.bucket) to.push_back(double(bucket.cumulative_count));
  to.push_back(double(all.sample_count));
  to.push_back(all.sample_sum);
}

} // namespace

void metric_registry::open(family_group group) {
  for (const family& row : all_families()) {
    slot& in = slots_[std::size_t(row.id)];
    if (row.group != group || !std::holds_alternative<std::monostate>(in.open)) continue;
    texts_ = nullptr;
    switch (row.kind) {
    case family_kind::counter:
      in.open = &build(prometheus::BuildCounter(), row, registry_);
      break;
    case family_kind::gauge:
      in.open = &build(prometheus::BuildGauge(), row, registry_);
      break;
    case family_kind::histogram:
    case family_kind::summary:
      in.open = &build(prometheus::BuildHistogram(), row, registry_);
      break;
    }
  }
}

metric_registry::slot& metric_registry::opened(family_id id) {
  slot& in = slots_[std::size_t(id)];
  OMNI_CHECK(!std::holds_alternative<std::monostate>(in.open), "a series was made in a family that is not open");
  return in;
}

void metric_registry::remember(slot& in, child made, family_id id, const label_set& labels,
                               std::span<const double> bounds, double wall_s) {
  const family& row = family_of(id);
  auto text = std::make_shared<series_text>();
  text->lines = series_lines(row, labels, bounds);
  if (created_series_ && row.has_created()) text->created = created_line(row, labels, wall_s);
  lines_ += text->lines.size();
  in.children.push_back(made);
  in.texts.push_back(std::move(text));
  texts_ = nullptr;
}

prometheus::Counter& metric_registry::counter(family_id id, const label_set& labels, double wall_s) {
  slot& in = opened(id);
  auto& made = std::get<prometheus::Family<prometheus::Counter>*>(in.open)->Add(as_map(labels));
  remember(in, &made, id, labels, {}, wall_s);
  return made;
}

prometheus::Gauge& metric_registry::gauge(family_id id, const label_set& labels, double wall_s) {
  slot& in = opened(id);
  auto& made = std::get<prometheus::Family<prometheus::Gauge>*>(in.open)->Add(as_map(labels));
  remember(in, &made, id, labels, {}, wall_s);
  return made;
}

prometheus::Histogram& metric_registry::histogram(family_id id, const label_set& labels, std::span<const double> bounds,
                                                  double wall_s) {
  slot& in = opened(id);
  auto& made = std::get<prometheus::Family<prometheus::Histogram>*>(in.open)->Add(
      as_map(labels), prometheus::Histogram::BucketBoundaries(bounds.begin(), bounds.end()));
  remember(in, &made, id, labels, bounds, wall_s);
  return made;
}

std::shared_ptr<const std::vector<family_text>> metric_registry::build_texts() const {
  auto texts = std::make_shared<std::vector<family_text>>();
  for (const family& row : all_families()) {
    const slot& in = slots_[std::size_t(row.id)];
    if (std::holds_alternative<std::monostate>(in.open)) continue;
    family_text text{family_head(row), {}, in.texts};
    if (created_series_ && row.has_created()) text.created_head = created_head(row);
    texts->push_back(std::move(text));
  }
  return texts;
}

snapshot metric_registry::take() {
  if (!texts_) texts_ = build_texts();
  auto values = std::make_shared<std::vector<double>>();
  values->reserve(lines_);
  for (const family& row : all_families())
    for (const child& one : slots_[std::size_t(row.id)].children) {
      if (const auto* counter = std::get_if<prometheus::Counter*>(&one)) values->push_back((*counter)->Value());
      if (const auto* gauge = std::get_if<prometheus::Gauge*>(&one)) values->push_back((*gauge)->Value());
      if (const auto* histogram = std::get_if<prometheus::Histogram*>(&one))
        append_values(**histogram, row.kind == family_kind::histogram, *values);
    }
  return {texts_, std::move(values)};
}

} // namespace omni
