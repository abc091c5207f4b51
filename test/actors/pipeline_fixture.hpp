#pragma once

#include "actors/orchestrator.hpp"
#include "actors/sink.hpp"
#include "actors/stage/replica.hpp"
#include "test/support/actor_fixture.hpp"
#include "test/support/fake_runner.hpp"
#include "test/support/recording_sink.hpp"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace omni::test {

/// What a stat logger was told, in order, by a stand-in that counts nothing.
struct told {
  std::vector<std::string> events;                      // "register 0/1 as 2", "report 0/1", "departed 0/1", "pipeline"
  std::map<std::pair<int, int>, engine_report> reports; // merged, by (stage, replica)
  std::int64_t unfinished = 0; // sequences of departed replicas
  pipeline_report pipeline;
  std::vector<request_timeline> timelines;
  bool stuck = false; // answers no report until it is told to print
  std::vector<caf::response_promise> unanswered;
};

/// A pipeline of fake models in virtual time: thinker, talker and code2wav, all scheduled.
class pipeline_fixture : public actor_fixture {
protected:
  using key = std::pair<int, int>; // stage, replica

  pipeline_fixture() {
    const char* names[] = {"thinker", "talker", "code2wav"};
    for (std::int32_t at = 0; at < 3; ++at) {
      auto& stage = config.stages.emplace_back();
      stage.id = {at};
      stage.model_stage = names[at];
    }
    config.stages[0].final_output_type = modality::text;
    config.stages[2].final_output_type = modality::audio;
  }

  /// Starts the orchestrator and `replicas[stage]` replicas of each stage.
  void start(std::vector<int> replicas = {1, 1, 1});
  replica_outcome add(int stage, std::optional<int> wanted = {});
  std::optional<failure> remove(int stage, int replica);

  struct running_request {
    request_id id;
    std::shared_ptr<recording_sink> heard;
  };
  /// Hands a request in; nothing is delivered yet.
  running_request submit(request what, bool takes_back = false);
  static request chat(std::string_view prompt, bool text = true, bool audio = false, std::int32_t max_tokens = 8);
  void abort(request_id id, bool client_left = false) { caf::anon_send(orchestrator, abort_request{id, client_left}); }

  /// Requests that the router sees at a replica; -1 if it is not listed.
  int load(int stage, int replica);
  std::optional<replica_state> state(int stage, int replica);
  /// Ends a replica without a word, as a crash would.
  void crash(int stage, int replica) { caf::anon_send_exit(replicas.at({stage, replica}), caf::exit_reason::kill); }
  [[nodiscard]] const stat_logger_actor& logger() const { return logger_; }
  /// What the thinker answers to a prompt.
  static std::string answer(std::string_view prompt, std::size_t count);

  engine_config config;
  fake_options options;
  bool statistics = false; // set before start: a stand-in for the stat logger listens
  told heard_by_logger;
  std::vector<std::string> warnings; // to the operator
  std::vector<std::string> notes;
  orchestrator_actor orchestrator;
  std::map<key, stage_replica_actor> replicas; // the latest of each id

private:
  stage_replica_actor make(stage_id stage, replica_id replica, const orchestrator_actor& owner);
  stat_logger_actor logger_;
  std::vector<std::shared_ptr<const stage_model>> models_;
  thread_pool pool_{1};
  std::uint64_t last_id_ = 0;
};

} // namespace omni::test
