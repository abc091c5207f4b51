#pragma once

#include "actors/net/links.hpp"
#include "actors/net/remote_replica.hpp"

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace omni::net {

struct membership_options {
  listening_socket listening;
  std::shared_ptr<const tls_context> tls; // none: connections are plain
  std::string version;                    // of the program
  std::vector<runner_info> infos;         // of the stages, as this process has them
  std::vector<std::uint64_t> fingerprints;
  std::uint64_t token = 0; // random: whoever knows it was let in
  orchestrator_actor owner;
  stat_logger_actor logger;                     // none: statistics are off
  std::function<void(const std::string&)> tell; // the operator, a sentence
};

/// The head's side of the network: lets processes with replicas in, stands between their replicas and this process's
/// actors, and notices when they are gone. To the orchestrator a remote replica is a `stage_replica_actor` as any
/// other; what becomes of requests is the orchestrator's business alone.
class membership {
public:
  membership(caf::io::broker* self, std::shared_ptr<membership_options> options);

  void on_connection(const caf::io::new_connection_msg& what) { links_.add(what.handle, false); }
  void on_open(const remote_open& what);
  void on_abort(const remote_abort& what);
  void on_piece(remote_piece& what);
  void on_down(const caf::down_msg& what);
  void on_tick();
  [[nodiscard]] link_set& links() { return links_; }

private:
  using remote_number = std::uint64_t;
  struct opened {
    std::int32_t attempt = 0;
    std::int32_t choices = 1;
    sink_actor sink;
    stage_replica_actor next;
  };
  struct remote {
    link_id link = 0;
    std::int32_t slot = 0;
    stage_id stage;
    std::optional<replica_id> replica; // none: not let in yet
    bool serving = false;
    runner_info info;
    stage_replica_actor stand_in;
    std::map<request_id, opened> requests;
  };
  struct process {
    std::uint64_t identity = 0;
    std::string address;
    std::uint16_t port = 0;
    std::string version;
  };

  // -- frames --
  void on_frame(link_id from, frame_kind kind, std::span<const char> body);
  void on_hello(link_id from, const hello& who);
  void on_join(link_id from, const join& what);
  void on_join_answer(remote_number number, const join_answer& answer);
  void refuse(link_id whom, std::int32_t slot, bool retry, const std::string& why);
  void on_serving(link_id from, const serving& what);
  void on_failed(link_id from, const failed& what);
  void on_leave(link_id from);
  // -- bulk --
  void on_message(link_id from, bulk_kind kind, std::span<const char> body);
  [[nodiscard]] bool pass_piece(link_id from, std::span<const char> body);
  [[nodiscard]] bool pass_answer(link_id from, std::span<const char> body);
  [[nodiscard]] bool pass_done(link_id from, std::span<const char> body);
  [[nodiscard]] bool pass_report(link_id from, std::span<const char> body);

  void on_lost(link_id which, const std::string& why);
  void drop(remote_number number);
  [[nodiscard]] std::optional<remote_number> find(link_id link, replica_id replica) const;
  [[nodiscard]] next_place place_of(const stage_binding& next) const;
  [[nodiscard]] std::optional<std::string> mismatch(const join& what) const;
  [[nodiscard]] bool plausible(const answer_piece& piece, const opened& request, const remote& from) const;

  caf::io::broker* self_;
  std::shared_ptr<membership_options> options_;
  caf::actor timer_;
  link_set links_;
  std::map<link_id, process> processes_;
  std::map<remote_number, remote> remotes_;
  remote_number last_ = 0;
};

/// Makes a system able to hold connections; before it is started.
void load_network(caf::actor_system_config& config);

struct head_network {
  caf::actor membership;
  std::uint16_t port = 0; // where processes may join
};
/// Listens as `where` says and starts the membership actor; fills `listening` and `tls` of the options. Errors:
/// `invalid_request` for an address that other machines reach without TLS, `load_failed`.
expected<head_network> start_membership(caf::actor_system& system, const network_config& where,
                                        membership_options options);

/// The behaviour of the membership actor, a broker on the network's thread. Ends with the orchestrator.
caf::behavior membership_behavior(caf::io::broker* self, const std::shared_ptr<membership_options>& options);

} // namespace omni::net
