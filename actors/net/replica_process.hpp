#pragma once

#include "actors/engine.hpp"
#include "actors/net/replica_host.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace omni {

/// Where a process of replicas goes, and with what.
struct replica_process_options {
  stage_id stage;
  std::int32_t replicas = 1;        // of this process, each with a thread and a state of its own; weights are shared
  std::optional<replica_id> wanted; // of the first one; none: the lowest free ids
  network_config head;
  std::string address;    // where processes of the other stages reach this one; empty: as the head sees it
  std::uint16_t port = 0; // ... 0: a free one
  std::string version;    // of the program
  std::function<void(const std::string&)> tell;                 // the operator, a sentence
  std::function<void(net::host_end, const std::string&)> ended; // the last call, from a thread of the process's own
};

/// A process without requests of its own: replicas of one stage, for a head in another process. It joins again, for
/// as long as it takes, when the head is lost.
class replica_process {
public:
  /// Loads the model and begins to look for the head. Errors: `load_failed`; `invalid_request` for a stage that the
  /// pipeline has not, or an address that other machines reach without TLS.
  static expected<std::unique_ptr<replica_process>> start(const engine_config& config, replica_process_options options,
                                                          const model_loader& load = load_stage_model);
  ~replica_process();
  replica_process(const replica_process&) = delete;
  replica_process& operator=(const replica_process&) = delete;

  /// Takes no new requests; `ended` is called when those that run are over.
  void leave();

private:
  struct impl;
  explicit replica_process(std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

} // namespace omni
