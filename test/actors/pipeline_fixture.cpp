#include "test/actors/pipeline_fixture.hpp"
#include "test/support/fake_stages.hpp"

namespace omni::test {
namespace {

std::string name_of(stage_id stage, replica_id replica) {
  return std::to_string(stage.value) + "/" + std::to_string(replica.value);
}

/// Answers now, or when it is released.
template <class Self>
caf::result<void> acknowledge(Self* self, told* into) {
  if (!into->stuck) return {};
  into->unanswered.push_back(self->make_response_promise());
  return into->unanswered.back();
}

stat_logger_actor::behavior_type listen(stat_logger_actor::pointer self, told* into) {
  return {
      [=](const register_engines& what) {
        for (const auto& one : what.engines)
          into->events.push_back("register " + name_of(one.stage, one.replica) + " as " + std::to_string(*one.engine));
      },
      [=](const engine_departed& who) {
        into->events.push_back("departed " + name_of(who.stage, who.replica));
        into->unfinished += who.unfinished;
      },
      [=](const engine_report& what) {
        into->events.push_back("report " + name_of(what.stage, what.replica));
        auto& sum = into->reports[{what.stage.value, what.replica.value}];
        sum.stage = what.stage;
        sum.replica = what.replica;
        sum.merge(engine_report(what));
        return acknowledge(self, into);
      },
      [=](const pipeline_report& what) {
        into->events.push_back("pipeline");
        into->pipeline.merge(pipeline_report(what));
        return acknowledge(self, into);
      },
      [=](const request_timeline& of) { into->timelines.push_back(of); },
      [](const http_report&) {},
      [=](print_stats) {
        into->stuck = false;
        for (auto& promise : std::exchange(into->unanswered, {})) promise.deliver(caf::unit);
      },
      [](get_metrics) { return metrics_page{}; },
      [](log_atom) {},
  };
}

} // namespace

void pipeline_fixture::start(std::vector<int> counts) {
  orchestrator_options made;
  made.config = config;
  made.graph = *stage_graph::make(
      {fake_stage("thinker", modality::text), fake_stage("talker"), fake_stage("code2wav", modality::audio)});
  made.fingerprints = {7, 7, 7};
  for (const auto& stage : config.stages) models_.push_back(fake_stage_model(stage.model_stage, options));
  if (statistics) logger_ = keep(system.spawn(listen, &heard_by_logger));
  made.logger = logger_;
  made.tell = [this](const char* level, const std::string& sentence) {
    (level == std::string("INFO") ? notes : warnings).push_back(sentence);
  };
  made.make_replica = [this](stage_id stage, replica_id replica, const orchestrator_actor& owner) {
    return make(stage, replica, owner);
  };
  orchestrator = keep(system.spawn(orchestrator_behavior, std::move(made)));
  start_replicas all;
  for (std::size_t stage = 0; stage < counts.size(); ++stage)
    for (int i = 0; i < counts[stage]; ++i) all.wanted.push_back({{std::int32_t(stage)}, std::nullopt});
  EXPECT_FALSE(ask<replica_outcome>(orchestrator, all).problem);
}

stage_replica_actor pipeline_fixture::make(stage_id stage, replica_id replica, const orchestrator_actor& owner) {
  const auto at = std::size_t(stage.value);
  auto handle = keep(system.spawn(
      replica_behavior, replica_options{stage, replica, config.stages[at], models_[at], &pool_, owner, logger_}));
  replicas[{stage.value, replica.value}] = handle;
  return handle;
}

replica_outcome pipeline_fixture::add(int stage, std::optional<int> wanted) {
  wanted_replica one{{stage}, std::nullopt};
  if (wanted) one.id = replica_id{*wanted};
  return ask<replica_outcome>(orchestrator, start_replicas{{one}});
}

std::optional<failure> pipeline_fixture::remove(int stage, int replica) {
  return ask<replica_outcome>(orchestrator, remove_replica{{stage}, {replica}}).problem;
}

pipeline_fixture::running_request pipeline_fixture::submit(request what, bool takes_back) {
  const request_id id{++last_id_};
  auto heard = std::make_shared<recording_sink>();
  heard->takes_back = takes_back;
  const auto answers = keep(system.spawn(sink_behavior, std::shared_ptr<sink>(heard), awaited_answers(what)));
  const auto now = std::chrono::duration_cast<std::chrono::microseconds>(system.clock().now().time_since_epoch());
  caf::anon_send(orchestrator, omni::submit{id, std::move(what), now.count(), answers});
  return {id, std::move(heard)};
}

request pipeline_fixture::chat(std::string_view prompt, bool text, bool audio, std::int32_t max_tokens) {
  request what;
  what.prompt = fake_tokens(prompt);
  what.want_text = text;
  what.want_audio = audio;
  what.sampling.temperature = 0;
  what.sampling.seed = 0;
  what.sampling.ignore_eos = true;
  what.sampling.max_tokens = max_tokens;
  return what;
}

int pipeline_fixture::load(int stage, int replica) {
  for (const auto& one : ask<replica_list>(orchestrator, list_replicas{}).replicas)
    if (one.stage.value == stage && one.replica.value == replica) return one.running + one.waiting;
  return -1;
}

std::optional<replica_state> pipeline_fixture::state(int stage, int replica) {
  for (const auto& one : ask<replica_list>(orchestrator, list_replicas{}).replicas)
    if (one.stage.value == stage && one.replica.value == replica) return one.state;
  return std::nullopt;
}

std::string pipeline_fixture::answer(std::string_view prompt, std::size_t count) {
  return fake_tokenizer().decode(expected_tokens(fake_tokens(prompt), count, chat("").sampling), true);
}

} // namespace omni::test
