#include "actors/stat_logger.hpp"

#include "messages/type_ids.hpp"

#include <chrono>

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
  if (!done) {
    options_.print({false, "Statistics: " + done.error().message});
    return;
  }
  for (const auto& line : done->lines) options_.print(line);
}

void stat_logger::print_lines() {
  for (const auto& line : statistics_.log(now().mono_s)) options_.print(line);
}

caf::result<metrics_page> stat_logger::on_page() {
  return self_->delegate(self_->spawn(write_page), page_values{statistics_.take(options_.process(), now())});
}

stat_logger_actor::behavior_type stat_logger_behavior(stat_logger_actor::pointer self, stat_logger_options options) {
  const auto state = std::make_shared<stat_logger>(self, std::move(options));
  return {
      [state](const register_engines& what) { state->on_register(what); },
      [state](const engine_departed& what) { state->on_departed(what); },
      [state](const engine_report& what) { state->on_report(what); },
      [state](const pipeline_report& what) { state->on_report(what); },
      [state](const http_report& what) { state->on_report(what); },
      [state](print_stats) { state->print_lines(); },
      [state](get_metrics) { return state->on_page(); },
      [state](log_atom) { state->on_interval(); },
  };
}

} // namespace omni
