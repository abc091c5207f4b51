#include "actors/stat_logger.hpp"

#include "actors/replica_name.hpp"
#include "messages/type_ids.hpp"
#include "metrics/timing_line.hpp"

#include <chrono>
#include <utility>

namespace omni {
struct page_values {
  snapshot picture;
};
} // namespace omni
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(omni::page_values)

namespace omni {
namespace {

using page_writer_actor = actor_interface<caf::result<metrics_page>(page_values)>;

page_writer_actor::behavior_type write_page(page_writer_actor::pointer self) {
  return {[self](const page_values& what) {
    self->quit();
    return metrics_page{render(what.picture)};
  }};
}

} // namespace

stat_logger::stat_logger(stat_logger_actor::pointer self, stat_logger_options options)
    : self_(self), options_(std::move(options)), statistics_(options_.statistics, now()) {
  schedule_interval();
}

void stat_logger::schedule_interval() {
  if (!options_.statistics.engines) return;
  self_->delayed_send(self_, std::chrono::microseconds(in_us(options_.interval_s)), log_atom{});
}

void stat_logger::on_interval() {
  print_lines();
  schedule_interval();
}

void stat_logger::on_register(const register_engines& what) {
  const auto done = statistics_.add_engines(what.engines, now());
  if (!done) return options_.warn(done.error().message);
  for (const auto& one : what.engines) statistics_.record(engine_health{one.stage, one.replica, true}, now());
  for (const auto& line : done->lines) options_.print(line);
}

void stat_logger::on_departed(const engine_departed& who) {
  statistics_.record(who);
  statistics_.record(engine_health{who.stage, who.replica, false}, now());
}

void stat_logger::on_report(const engine_report& what) {
  if (statistics_.record(what, now()) || std::exchange(met_stranger_, true)) return;
  options_.warn(replica_name(what.stage, what.replica) +
                " sent statistics, but nobody registered it: they are dropped. This is said once; "
                "omni_serve:bad_values_total counts further ones.");
}

void stat_logger::print_timing(const request_timeline& of) { options_.print({false, timing_line(of)}); }

void stat_logger::print_lines() {
  for (const auto& line : statistics_.log(now().mono_s)) options_.print(line);
}

caf::result<metrics_page> stat_logger::on_page() {
  return self_->delegate(self_->spawn(write_page), page_values{statistics_.take(options_.process(), now())});
}

void ask_for_lines(const stat_logger_actor& logger) {
  if (logger) caf::anon_send(logger, print_stats{});
}

stat_logger_actor::behavior_type stat_logger_behavior(stat_logger_actor::pointer self, stat_logger_options options) {
  const auto state = std::make_shared<stat_logger>(self, std::move(options));
  return {
      [state](const register_engines& what) { state->on_register(what); },
      [state](const engine_departed& what) { state->on_departed(what); },
      [state](const engine_report& what) { state->on_report(what); },
      [state](const pipeline_report& what) { state->on_report(what); },
      [state](const request_timeline& what) { state->print_timing(what); },
      [state](const http_report& what) { state->on_report(what); },
      [state](print_stats) { state->print_lines(); },
      [state](get_metrics) { return state->on_page(); },
      [state](log_atom) { state->on_interval(); },
  };
}

} // namespace omni
