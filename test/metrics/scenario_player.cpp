#include "test/metrics/scenario_player.hpp"

#include "metrics/playback.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace omni::test {
namespace {

using json = nlohmann::json;

std::int32_t as_id(const json& x) { return x.is_string() ? std::stoi(x.get<std::string>()) : x.get<std::int32_t>(); }

template <std::size_t N>
std::size_t index_of(const std::string_view (&labels)[N], const std::string& name) {
  const auto found = std::find(std::begin(labels), std::end(labels), name);
  if (found == std::end(labels)) throw std::runtime_error("The scenario has an unknown label value: " + name);
  return std::size_t(found - std::begin(labels));
}

cache_counts counts_of(const json& x) {
  if (x.is_null()) return {};
  return {x.at("requests"), x.at("queries"), x.at("hits")};
}

std::optional<double> seconds_of(const json& x, const char* key) { return x.at(key).get<double>(); }

finished_request finished_of(const json& x) {
  finished_request one;
  one.reason = finished_as(index_of(finish_reason_labels, x.at("finish_reason")));
  one.num_prompt_tokens = x.at("num_prompt_tokens");
  one.num_cached_tokens = x.at("num_cached_tokens");
  one.num_generation_tokens = x.at("num_generation_tokens");
  one.num_preemptions = x.at("num_preemptions");
  if (!x.at("max_tokens_param").is_null()) one.max_tokens = x.at("max_tokens_param").get<std::int64_t>();
  one.e2e_latency = x.at("e2e_latency");
  one.queued_time = seconds_of(x, "queued_time");
  one.prefill_time = seconds_of(x, "prefill_time");
  one.decode_time = seconds_of(x, "decode_time");
  one.inference_time = seconds_of(x, "inference_time");
  one.mean_time_per_output_token = seconds_of(x, "mean_time_per_output_token");
  return one;
}

/// The parts of a report that do not come from outputs.
void take_scheduler(engine_report& report, const json& op) {
  report.mm_cache = counts_of(op.at("mm_cache"));
  const json& scheduler = op.at("scheduler");
  if (scheduler.is_null()) return;
  scheduler_snapshot load;
  load.running = scheduler.at("running");
  load.waiting = scheduler.at("waiting");
  load.deferred = scheduler.at("skipped");
  load.kv_cache_usage = scheduler.at("kv_cache_usage");
  report.scheduler = load;
  report.prefix_cache = counts_of(scheduler.at("prefix_cache"));
  const json& external = scheduler.at("external_prefix_cache");
  report.external_prefix_cache = counts_of(external);
  if (!external.is_null())
    for (const auto& [tier, tokens] : external.at("hits_by_source").items())
      report.external_hits_by_tier[index_of(cached_source_labels, tier) - 1] = tokens;
}

} // namespace

scenario_player::scenario_player(const json& scenario, label_scheme labels, feed how)
    : scenario_(scenario), labels_(labels),
      how_(how), now_{scenario.at("config").at("wall0"), scenario.at("config").at("mono0")},
      bad_(registry_, {scenario.at("config").at("model_name"), labels}, now_.wall_s),
      exporter_({scenario.at("config").at("model_name"), labels}, scenario.at("config").at("max_model_len"), registry_,
                bad_, now_.wall_s),
      statistics_({scenario.at("config").at("model_name"), labels, scenario.at("config").at("max_model_len")}, now_) {
  register_all(false);
}

void scenario_player::play(const scrape_handler& on_scrape) {
  for (const json& op : scenario_.at("ops")) {
    step(op, on_scrape);
    if (::testing::Test::HasFatalFailure()) return;
  }
}

void scenario_player::step(const json& op, const scrape_handler& on_scrape) {
  const std::string kind = op.at("op");
  if (kind == "advance") {
    now_.wall_s += op.at("seconds").get<double>();
    now_.mono_s += op.at("seconds").get<double>();
  } else if (kind == "record") {
    record(op);
  } else if (kind == "log") {
    say(statistics_.log(now_.mono_s));
  } else if (kind == "scrape") {
    on_scrape(op.at("page"), render(registry_.take()));
  } else if (kind == "sleep") {
    sleep_state state;
    if (op.at("sleep") == 1) state.level = op.at("level").get<std::int32_t>();
    exporter_.record(state);
  } else if (kind == "admission_rejection") {
    pipeline_report report;
    report.rejected[index_of(rejection_labels, op.at("reason"))] = 1;
    add(report);
  } else if (kind == "engine_initialized") {
    register_all(true);
  } else if (kind == "register" || kind == "register_conflict") {
    register_one(op);
  } else if (kind == "omni") {
    omni_call(op);
  } else if (kind.starts_with("omni_audio_")) {
    audio(op);
  } else {
    throw std::runtime_error("The scenario has an unknown op: " + kind);
  }
}

register_engine scenario_player::facts(const json& engine, bool with_cache) const {
  const json& config = scenario_.at("config");
  register_engine who;
  who.stage.value = as_id(engine.at("stage"));
  who.replica.value = as_id(engine.at("replica"));
  who.engine = engine.at("engine").get<std::int32_t>();
  who.max_model_len = config.at("max_model_len");
  std::string device = config.at("device");
  std::transform(device.begin(), device.end(), device.begin(), [](unsigned char c) { return std::toupper(c); });
  who.device = device == "CUDA" ? "GPU" : device;
  if (with_cache)
    who.cache = cache_facts{config.at("block_size"), config.at("num_gpu_blocks"), config.at("gpu_memory_utilization"),
                            "auto", true};
  return who;
}

void scenario_player::register_all(bool with_cache) {
  engines_.clear();
  for (const json& engine : scenario_.at("config").at("engines")) engines_.push_back(facts(engine, with_cache));
  // The reference never publishes caches on the omni page; ours does, so the page is not told here.
  auto shown = engines_;
  if (labels_ == label_scheme::stage_replica)
    for (register_engine& who : shown) who.cache.reset();
  ASSERT_TRUE(exporter_.add_engines(shown, now_.wall_s).has_value());
  const auto done = statistics_.add_engines(engines_, now_);
  ASSERT_TRUE(done.has_value());
  say(done->lines);
}

void scenario_player::register_one(const json& op) {
  const register_engine who = facts(op, false);
  const auto done = exporter_.add_engines({&who, 1}, now_.wall_s);
  const auto logged = statistics_.add_engines({&who, 1}, now_);
  if (op.at("op") == "register_conflict") {
    ASSERT_FALSE(done.has_value());
    ASSERT_FALSE(logged.has_value());
    EXPECT_EQ(done.error().code, errc::replica_conflict);
    return;
  }
  ASSERT_TRUE(done.has_value()) << done.error().message;
  EXPECT_EQ(done->front(), who.engine);
  engines_.push_back(who);
}

void scenario_player::record(const json& op) {
  batch chosen;
  if (op.at("outputs").is_null()) {
    chosen = from_iteration(op);
  } else {
    batch given = from_iteration(op);
    batch rebuilt = from_outputs(op);
    if (on_batch_) on_batch_(op, given, rebuilt);
    chosen = how_ == feed::iteration ? std::move(given) : std::move(rebuilt);
  }
  add(chosen.report);
}

scenario_player::batch scenario_player::from_iteration(const json& op) const {
  batch made;
  engine_report& report = made.report;
  const auto engine = std::find_if(engines_.begin(), engines_.end(),
                                   [&](const auto& x) { return *x.engine == op.at("engine").get<std::int32_t>(); });
  if (engine == engines_.end()) throw std::runtime_error("The scenario records an engine that it never registered.");
  report.stage = engine->stage;
  report.replica = engine->replica;
  take_scheduler(report, op);
  const json& iteration = op.at("iteration");
  if (iteration.is_null()) return made;
  report.generation_tokens = iteration.at("num_generation_tokens");
  report.preemptions = iteration.at("num_preempted_reqs");
  const json& prompt = iteration.at("prompt_token_stats");
  report.prompt = {prompt.at("computed"), prompt.at("local_cache_hit"), prompt.at("external_kv_transfer")};
  report.iteration_tokens.add(double(report.prompt.computed + report.generation_tokens), report.bad);
  for (const json& x : iteration.at("time_to_first_tokens_iter")) report.time_to_first_token.add(x, report.bad);
  for (const json& x : iteration.at("inter_token_latencies_iter")) report.inter_token_latency.add(x, report.bad);
  for (const json& x : iteration.at("n_params_iter")) report.groups.n.add(x, report.bad);
  for (const json& x : iteration.at("max_num_generation_tokens_iter"))
    report.groups.longest_generation.add(x, report.bad);
  for (const json& x : iteration.at("finished_requests")) {
    made.finished.push_back(finished_of(x));
    report.finished.add(made.finished.back(), report.bad);
  }
  return made;
}

scenario_player::sequence& scenario_player::sequence_of(const std::string& name) {
  const auto known = sequences_.find(name);
  if (known != sequences_.end()) return known->second;
  const json& config = scenario_.at("config");
  const json& request = scenario_.at("requests").at(name);
  const double arrival_s =
      request.at("arrival_wall").get<double>() - config.at("wall0").get<double>() + config.at("mono0").get<double>();
  std::optional<std::int64_t> max_tokens;
  if (!request.at("max_tokens").is_null()) max_tokens = request.at("max_tokens").get<std::int64_t>();
  const std::string parent = request.at("parent").is_null() ? name : request.at("parent").get<std::string>();
  auto& group = groups_[parent];
  if (!group) group = std::make_shared<sample_group>(request.at("n").get<std::int32_t>());
  sequence made{request_timing(arrival_s, request.at("prompt_tokens"), max_tokens), group};
  return sequences_.emplace(name, std::move(made)).first->second;
}

scenario_player::batch scenario_player::from_outputs(const json& op) {
  batch made;
  json without_iteration = op;
  without_iteration["iteration"] = nullptr;
  made = from_iteration(without_iteration);
  const json& outputs = op.at("outputs");
  step_record step(made.report, outputs.at("batch_mono"));
  for (const json& output : outputs.at("list")) {
    sequence& one = sequence_of(output.at("request"));
    for (const json& event : output.at("events")) {
      const std::string what = event.at(0);
      if (what == "queued") one.timing.queued(event.at(1));
      if (what == "scheduled") one.timing.scheduled(event.at(1));
      if (what == "preempted") one.timing.preempted();
    }
    if (output.contains("prefill"))
      one.timing.found_cached(output.at("prefill").at("local_cached"), output.at("prefill").at("external_cached"));
    step.output(one.timing, output.at("new_tokens"), now_.mono_s);
    if (output.at("finish").is_null()) continue;
    const auto reason = finished_as(index_of(finish_reason_labels, output.at("finish")));
    made.finished.push_back(step.finish(one.timing, *one.group, reason, now_.mono_s));
  }
  step.close();
  return made;
}

engine_report scenario_player::report_of_stage(std::int64_t stage) const {
  engine_report report;
  for (const register_engine& engine : engines_)
    if (engine.stage.value == stage) {
      report.stage = engine.stage;
      report.replica = engine.replica;
      return report;
    }
  throw std::runtime_error("The scenario names a stage without a replica.");
}

void scenario_player::omni_call(const json& op) {
  const std::string call = op.at("call");
  const json& args = op.at("args");
  if (call == "set_stage_waiting_requests") {
    exporter_.set_stage_waiting({as_id(args.at("stage"))}, args.at("n_waiting"), now_.wall_s);
    return;
  }
  if (call == "observe_stage_gen_time") {
    EXPECT_EQ(args.at("stage_type"), "llm");
    engine_report report = report_of_stage(as_id(args.at("stage")));
    report.stage_gen_time.add(args.at("gen_time_s"), report.bad);
    add(report);
    return;
  }
  if (op.at("object") == "transfer") {
    engine_report report = report_of_stage(as_id(args.at("from_stage")));
    transfer_totals& edge = report.transfer({as_id(args.at("from_stage"))}, {as_id(args.at("from_replica"))},
                                            {as_id(args.at("to_stage"))}, {as_id(args.at("to_replica"))});
    if (call == "observe_size") edge.size.add(args.at("size_bytes"), report.bad);
    if (call == "observe_tx_time") edge.tx.add(args.at("tx_time_s"), report.bad);
    if (call == "observe_rx_time") edge.rx.add(args.at("rx_time_s"), report.bad);
    if (call == "observe_in_flight_time") edge.in_flight.add(args.at("in_flight_time_s"), report.bad);
    add(report);
    return;
  }
  pipeline_report report;
  if (call == "set_running") report.running = args.at("n").get<std::int64_t>();
  if (call == "set_waiting") report.waiting = args.at("n").get<std::int64_t>();
  if (call == "observe_queue_wait") report.queue_wait.add(args.at("queue_wait_s"), report.bad);
  if (call == "request_succeeded")
    report.add_success(finished_as(index_of(finish_reason_labels, args.at("finished_reason"))), args.at("e2e_seconds"));
  // The reference calls two functions for one failure; ours are the two halves of pipeline_report::add_failure.
  if (call == "request_failed") report.success[std::size_t(finished_as::abort)] = 1;
  if (call == "inc_requests_failed") report.failed[index_of(failure_labels, args.at("reason"))] = 1;
  if (call == "observe_tokens") {
    report.prompt_tokens = args.at("prompt_tokens");
    report.generation_tokens = args.at("generation_tokens");
  }
  if (call == "inc_speech_stream_completed") report.speech_completed = 1;
  if (call == "inc_speech_stream_aborted") report.speech_aborted[index_of(speech_abort_labels, args.at("reason"))] = 1;
  add(report);
}

void scenario_player::audio(const json& op) {
  const std::string kind = op.at("op");
  engine_report report;
  report.stage.value = as_id(op.at("stage"));
  report.replica.value = as_id(op.at("replica"));
  if (kind == "omni_audio_first_packet") {
    report.audio.ttfp.add(op.at("now").get<double>() - op.at("arrival").get<double>(), report.bad);
  } else if (kind == "omni_audio_finalize") {
    count_sound(report.audio, op.at("frames"), op.at("sample_rate"), op.at("stage_gen_time_ms").get<double>() / 1000,
                report.bad);
  } else if (kind == "omni_audio_stream_close") {
    playback listener;
    const json& times = op.at("chunk_arrival_times_s");
    constexpr std::int64_t bytes_per_frame = 2; // 16-bit mono
    for (std::size_t i = 0; i < times.size(); ++i)
      listener.packet(times[i], op.at("chunk_bytes").at(i).get<std::int64_t>() / bytes_per_frame, op.at("sample_rate"));
    listener.close(report.audio, report.bad);
  }
  add(report);
}

void scenario_player::add(const engine_report& report) {
  EXPECT_TRUE(exporter_.record(report, now_.wall_s));
  EXPECT_TRUE(statistics_.record(report, now_));
}

void scenario_player::add(const pipeline_report& report) { exporter_.record(report, now_.wall_s); }

void scenario_player::say(const std::vector<log_line>& lines) {
  for (const log_line& line : lines) console_.push_back((line.idle ? "DEBUG " : "INFO ") + line.text);
}

} // namespace omni::test
