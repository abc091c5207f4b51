#include "metrics/statistics.hpp"

#include <iterator>

namespace omni {
namespace {

common_labels labels_of(const statistics_options& options) { return {options.model_name, options.labels}; }

} // namespace

statistics::statistics(const statistics_options& options, instant now)
    : registry_(options.created_series), bad_(registry_, labels_of(options), now.wall_s),
      server_(registry_, bad_, now.wall_s) {
  if (options.engines) exporter_.emplace(labels_of(options), options.max_model_len, registry_, bad_, now.wall_s);
}

expected<statistics::registration> statistics::add_engines(std::span<const register_engine> engines, instant now) {
  registration done;
  if (!exporter_) return done;
  std::vector<bool> cache_was_known;
  for (const register_engine& who : engines) {
    const engine_series* known = exporter_->find(who.stage, who.replica);
    cache_was_known.push_back(known != nullptr && known->facts.cache.has_value());
  }
  auto indexes = exporter_->add_engines(engines, now.wall_s);
  if (!indexes) return tl::unexpected(indexes.error());
  done.engines = std::move(*indexes);
  for (std::size_t i = 0; i < engines.size(); ++i) {
    const std::int32_t engine = done.engines[i];
    const auto log = logs_.try_emplace(engine, engine, engines[i].device, engines[i].unit, now.mono_s).first;
    log->second.joined();
    if (!engines[i].cache || cache_was_known[i]) continue;
    auto lines = log->second.cache_known(engines[i].cache->num_gpu_blocks);
    std::move(lines.begin(), lines.end(), std::back_inserter(done.lines));
  }
  return done;
}

engine_log* statistics::log_of(stage_id stage, replica_id replica) {
  const engine_series* engine = exporter_ ? exporter_->find(stage, replica) : nullptr;
  if (engine == nullptr) return nullptr;
  const auto found = logs_.find(*engine->facts.engine);
  return found == logs_.end() ? nullptr : &found->second;
}

bool statistics::record(const engine_report& report, instant now) {
  if (!exporter_) return true;
  if (!exporter_->record(report, now.wall_s)) return false;
  log_of(report.stage, report.replica)->record(report);
  return true;
}

void statistics::record(const pipeline_report& report, instant now) {
  if (exporter_) exporter_->record(report, now.wall_s);
}

void statistics::record(const engine_departed& who) {
  if (!exporter_) return;
  exporter_->record(who);
  if (engine_log* log = log_of(who.stage, who.replica)) log->departed();
}

void statistics::record(const engine_health& who, instant now) {
  if (exporter_) exporter_->record(who, now.wall_s);
}

void statistics::record(const sleep_state& state) {
  if (exporter_) exporter_->record(state);
}

void statistics::record(const http_report& report, instant now) { server_.record(report, now.wall_s); }

std::vector<log_line> statistics::log(double mono_s) {
  std::vector<log_line> lines;
  for (auto& [engine, log] : logs_) {
    auto more = log.log(mono_s);
    std::move(more.begin(), more.end(), std::back_inserter(lines));
  }
  return lines;
}

snapshot statistics::take(const process_facts& process, instant now) {
  server_.record(process, now.wall_s);
  if (exporter_) exporter_->update_waiting(now.wall_s);
  return registry_.take();
}

} // namespace omni
