#pragma once

#include "kernels/models/stage_model.hpp"
#include "messages/config.hpp"
#include "messages/errc.hpp"
#include "messages/ids.hpp"
#include "messages/output.hpp"
#include "messages/replica_status.hpp"
#include "messages/report.hpp"
#include "messages/request.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace omni {

/// Where a request's outputs go. Called from the engine's threads, one call at a time per request; must not block and
/// must not throw. Exactly one `on_end` comes last, unless the engine is destroyed first.
class sink {
public:
  virtual ~sink() = default;
  virtual void on_output(const output& piece) = 0;
  /// A replica was lost, and the request would be worked on anew, from its beginning: true if the outputs so far can be
  /// taken back, and now are; false if somebody has them.
  virtual bool take_back() { return false; }
  /// The request is over: all its outputs came (no value), or it failed.
  virtual void on_end(const std::optional<failure>& problem) = 0;
};

/// Makes the model of one stage; throws `load_error`.
using model_loader = std::function<std::shared_ptr<const stage_model>(const stage_model_spec&)>;

/// Seconds since 1970 on the system's clock.
double wall_seconds();

/// The facade that programs embed: a running pipeline. Thread safe; no call waits for a step of a model.
class engine {
public:
  /// Loads the models, starts every actor, and returns when all local replicas serve. Errors: `load_failed`,
  /// `invalid_request` for a configuration that cannot be.
  /// `load` is for programs that bring models of their own; `wall_s` tells statistics the time of day, on their thread.
  static expected<std::unique_ptr<engine>> start(engine_config config, model_loader load = load_stage_model,
                                                 std::function<double()> wall_s = wall_seconds);

  /// Stops, and waits until all actors have ended.
  ~engine();
  engine(const engine&) = delete;
  engine& operator=(const engine&) = delete;

  /// Hands a request in. What is wrong with the request itself is returned (`invalid_request`, `context_too_long`);
  /// all that depends on the engine's state (`overloaded`, `no_replica`, a lost replica) comes through `to`.
  expected<request_id> submit(request what, std::shared_ptr<sink> to);
  /// Ends a request: its KV blocks and places are free within one step, its sink ends with `aborted`. `client_left`:
  /// for statistics, whether its client went away or asked for the end.
  void abort(request_id id, bool client_left = false);

  /// Starts one more replica of a stage, under the wanted id or the lowest free one.
  expected<replica_id> add_replica(stage_id stage, std::optional<replica_id> wanted = {});
  /// Takes a replica out: it gets no new requests, finishes those it has, and ends.
  expected<void> remove_replica(stage_id stage, replica_id replica);

  /// The same two for callers that must not wait; `done` is called from an engine thread.
  void add_replica(stage_id stage, std::optional<replica_id> wanted, std::function<void(expected<replica_id>)> done);
  void remove_replica(stage_id stage, replica_id replica, std::function<void(expected<void>)> done);

  /// Stops admitting (`shutting_down`); `done` is called once no request is left.
  void drain(std::function<void()> done);
  /// Ends all work: requests that still run fail with `shutting_down`, and so do later ones. Returns at once.
  void stop();

  /// Prints the console statistics now. Returns at once; nothing happens when statistics are off.
  void do_log_stats();
  /// Counts an answer of the program's HTTP server for /metrics. Returns at once.
  void count(http_report answer);
  /// Hands the text of /metrics to `done`, from an engine thread.
  void metrics_text(std::function<void(std::string)> done);
  /// Hands the state of all replicas to `done`, from an engine thread.
  void replicas(std::function<void(std::vector<replica_status>)> done);

  [[nodiscard]] const engine_config& config() const;
  /// Where replicas of other processes may join; 0 without `engine_config::network`.
  [[nodiscard]] std::uint16_t join_port() const;
  /// The model of a stage: tokenizer, chat template, speakers. Lives as long as the engine.
  [[nodiscard]] const stage_model& model(stage_id stage) const;
  /// Limits of a stage's model: context length, vocabulary, sample rate.
  [[nodiscard]] const runner_info& info(stage_id stage) const;

private:
  struct impl;
  explicit engine(std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

} // namespace omni
