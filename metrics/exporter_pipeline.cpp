#include "metrics/exporter.hpp"

#include <algorithm>
#include <map>

// The half of the exporter that counts whole requests and the state of engines.

namespace omni {
void exporter::open_pipeline(double wall_s) {
  using id = family_id;
  const label_set model = labels_.of_model();
  const auto histogram = [&](id which) {
    const auto bounds = bucket_bounds(family_of(which).buckets);
    return histogram_series(registry_.histogram(which, model, bounds, wall_s), bounds.size() + 1);
  };
  registry_.open(family_group::pipeline);
  pipeline_series made;
  made.running = &registry_.gauge(id::omni_requests_running, model, wall_s);
  made.waiting = &registry_.gauge(id::omni_requests_waiting, model, wall_s);
  made.e2e = histogram(id::omni_e2e_latency);
  made.prompt_tokens = counter_series(registry_.counter(id::omni_prompt_tokens, model, wall_s));
  made.generation_tokens = counter_series(registry_.counter(id::omni_generation_tokens, model, wall_s));
  made.queue_wait = histogram(id::omni_queue_wait);
  // No stage here makes images; the series are on the page because they are on vLLM-Omni's.
  (void)histogram(id::omni_inference_steps);
  (void)registry_.counter(id::omni_image_count, model, wall_s);
  (void)histogram(id::omni_image_pixels);
  pipeline_ = made;
}

void exporter::count_rejections(const pipeline_report& report, bad_value_counts& bad) {
  for (std::size_t i = 0; i < rejection_kinds; ++i) {
    if (rejections_.empty()) {
      unbooked_[i] += report.rejected[i];
    } else {
      rejections_[i].add(report.rejected[i], bad);
    }
  }
}

void exporter::record(const pipeline_report& report, double wall_s) {
  using id = family_id;
  bad_value_counts bad = report.bad;
  count_rejections(report, bad);
  if (pipeline_) {
    if (report.running) pipeline_->dispatched_now = double(checked(*report.running, bad));
    if (report.waiting) pipeline_->undispatched_now = double(checked(*report.waiting, bad));
    set_pipeline_load(0);
    pipeline_->e2e.add(report.e2e_latency, bad);
    pipeline_->queue_wait.add(report.queue_wait, bad);
    pipeline_->prompt_tokens.add(report.prompt_tokens, bad);
    pipeline_->generation_tokens.add(report.generation_tokens, bad);
    const label_set model = labels_.of_model();
    for (std::size_t i = 0; i < finish_kinds; ++i)
      lazy_.add(id::omni_requests_success, with(model, "finished_reason", finish_reason_labels[i]), report.success[i],
                wall_s, bad);
    for (std::size_t i = 0; i < failure_kinds; ++i)
      lazy_.add(id::omni_requests_failed, with(model, "reason", failure_labels[i]), report.failed[i], wall_s, bad);
    for (std::size_t i = 0; i < speech_abort_kinds; ++i)
      lazy_.add(id::omni_speech_aborted, with(model, "reason", speech_abort_labels[i]), report.speech_aborted[i],
                wall_s, bad);
    lazy_.add(id::omni_speech_completed, model, report.speech_completed, wall_s, bad);
  }
  bad_.add(bad);
}

void exporter::record(const engine_departed& who) {
  engine_series* engine = series_of(who.stage, who.replica);
  bad_value_counts bad{};
  if (engine == nullptr) {
    ++bad[std::size_t(bad_value::unknown_engine)];
  } else {
    engine->set_load({}, bad);
    engine->success[std::size_t(finished_as::error)].add(who.unfinished, bad);
    engine->departed = true;
  }
  bad_.add(bad);
}

void exporter::record(const engine_health& who, double wall_s) {
  const engine_series* engine = find(who.stage, who.replica);
  bad_value_counts bad{};
  if (engine == nullptr) {
    ++bad[std::size_t(bad_value::unknown_engine)];
  } else {
    registry_.open(family_group::health);
    const label_set labels =
        labels_.of_engine(family_id::engine_healthy, who.stage, who.replica, engine->facts.engine.value_or(0));
    lazy_.gauge(family_id::engine_healthy, labels, wall_s).Set(who.healthy ? 1 : 0);
  }
  bad_.add(bad);
}

void exporter::record(const sleep_state& state) {
  std::optional<std::size_t> shown = 0; // awake
  if (state.level) {
    shown = std::nullopt;
    if (*state.level == 1) shown = 1;
    if (*state.level == 2) shown = 2;
  }
  for (auto& [key, engine] : engines_) engine->set_sleep(shown);
}

void exporter::set_stage_waiting(stage_id stage, std::int64_t waiting, double wall_s) {
  if (!pipeline_) return;
  const label_set labels = with(labels_.of_model(), "stage", std::to_string(stage.value));
  lazy_.gauge(family_id::omni_stage_waiting, labels, wall_s).Set(double(waiting));
}

void exporter::set_pipeline_load(double waiting_inside) {
  const double inside = std::min(waiting_inside, pipeline_->dispatched_now); // a request can wait as several samples
  pipeline_->running->Set(pipeline_->dispatched_now - inside);
  pipeline_->waiting->Set(pipeline_->undispatched_now + inside);
}

void exporter::update_waiting(double wall_s) {
  if (!pipeline_) return;
  std::map<stage_id, std::int64_t> sums;
  double inside = 0;
  for (const auto& [key, engine] : engines_) {
    sums[key.first] += engine->waiting_now;
    inside += engine->capacity_now; // the deferred ones wait for the stage before, which works on them
  }
  for (const auto& [stage, waiting] : sums) set_stage_waiting(stage, waiting, wall_s);
  set_pipeline_load(inside);
}

} // namespace omni
