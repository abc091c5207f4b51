#pragma once

#include "actors/net/early_pieces.hpp"
#include "actors/net/links.hpp"
#include "actors/net/remote_replica.hpp"
#include "actors/stage/replica.hpp"

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>

namespace omni::net {

/// Why a process of replicas ends.
enum class host_end : std::uint8_t {
  left,    // its replicas were drained, or nothing was running
  refused, // the head does not want it
  failed,  // its replicas cannot go on
};

struct replica_host_options {
  network_config head;
  std::shared_ptr<const tls_context> tls; // none: connections are plain
  listening_socket listening;             // for peers
  std::string address;                    // where peers reach it; empty: the address that the head sees
  std::string version;
  std::uint64_t identity = 0; // random, of the process
  std::uint64_t fingerprint = 0;
  runner_info info;
  std::int32_t replicas = 1;
  std::optional<replica_id> wanted; // of the first one, the others follow; none: the lowest free ids
  stage_config config;
  std::shared_ptr<const stage_model> model;
  thread_pool* pool = nullptr;
  bool log_stats = true;
  std::function<void(const std::string&)> tell;            // the operator, a sentence
  std::function<void(host_end, const std::string&)> ended; // the last call; the sentence says why
};

/// A socket that was asked for, or why there is none.
struct dialled {
  std::uint64_t whom = 0; // identity of a peer, 0: the head
  std::shared_ptr<connected_socket> socket;
  std::string problem;
};
struct leave_now {};
struct dial_again {};

/// A process's side of the network: joins a head, runs replicas of one stage for it, and joins again when the head was
/// lost. To its replicas it is orchestrator, sinks and stat logger at once. All requests come from the head; pieces go
/// straight to the process of the next stage, over one connection per peer.
class replica_host {
public:
  replica_host(caf::io::broker* self, std::shared_ptr<replica_host_options> options);

  // -- from its replicas --
  void on_ready(const replica_ready& what);
  void on_failed(const replica_failed& what);
  void on_done(const stage_done& what);
  void on_answer(const answer_piece& what);
  void on_report(const engine_report& what);
  void on_down(const caf::down_msg& what);
  void on_piece(remote_piece& what);
  /// The echo of an ended request from the stand-in that took its pieces: all of them are on their way.
  void on_echo(const remote_abort& what);
  // -- from itself --
  void dial_head();
  void on_dialled(const dialled& what);
  void on_tick();
  // -- from its process --
  void on_leave();

  void on_connection(const caf::io::new_connection_msg& what) { links_.add(what.handle, false); }
  [[nodiscard]] link_set& links() { return links_; }

private:
  struct opened {
    std::int32_t attempt = 0;
    replica_id replica;
    std::optional<std::uint64_t> next; // peer that its pieces go to; 0: the head
    std::optional<done> told_last;     // its end, which must not overtake its pieces
  };
  struct peer {
    std::string name; // for people
    stage_replica_actor stand_in;
    std::optional<link_id> link;
    std::deque<bytes> waiting; // for the connection
  };

  // -- the head --
  void on_frame(link_id from, frame_kind kind, std::span<const char> body);
  [[nodiscard]] bool on_head_frame(frame_kind kind, std::span<const char> body);
  void on_welcome(const welcome& what);
  void on_joined(const joined& what);
  void on_refused(const refused& what);
  void on_open(open& what);
  void on_medium(request_medium& what);
  /// It is complete.
  void take_in(open& what);
  void on_abort(request_id id);
  void on_retired(replica_id replica);
  void lose_head(const std::string& why);
  void dial_later();
  // -- peers --
  void on_stranger(link_id from, frame_kind kind, std::span<const char> body);
  void on_message(link_id from, bulk_kind kind, std::span<const char> body);
  void on_lost(link_id which, const std::string& why);
  void lose_peer(std::uint64_t identity, const std::string& why);
  stage_replica_actor stand_in_for(const next_place& place);
  link_id add_dialled(connected_socket& one);
  void dial(std::uint64_t whom, const std::string& address, std::uint16_t port);
  // -- its replicas --
  void give(const opened& to, chunk piece);
  void forget_replica(replica_id replica);
  void tell_done(const opened& request, request_id id, failure problem);
  void say_goodbye_if_done();
  /// The process ends when all have read its goodbye.
  void end_if_heard();
  void end(host_end how, const std::string& why);

  caf::io::broker* self_;
  std::shared_ptr<replica_host_options> options_;
  caf::actor timer_;
  link_set links_;
  std::optional<link_id> head_;
  bool welcomed_ = false;
  std::uint64_t token_ = 0;
  std::uint32_t tries_ = 0;  // to reach the head, since the last welcome
  std::string last_problem_; // told once
  std::set<std::int32_t> joining_;
  std::map<replica_id, stage_replica_actor> replicas_;
  std::map<request_id, open> unopened_; // whose media are on their way
  std::map<request_id, opened> requests_;
  std::map<std::uint64_t, peer> peers_; // by identity; 0: the head, as receiver of pieces
  std::set<link_id> feeders_;           // connections over which peers hand pieces in
  early_pieces early_;
  bool leaving_ = false;
  bool finishing_ = false; // no replica is left; what was made is still on its way
  bool said_goodbye_ = false;
};

/// The behaviour of the actor above, a broker on the network's thread.
caf::behavior replica_host_behavior(caf::io::broker* self, const std::shared_ptr<replica_host_options>& options);

} // namespace omni::net

CAF_ALLOW_UNSAFE_MESSAGE_TYPE(omni::net::dialled)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(omni::net::leave_now)
CAF_ALLOW_UNSAFE_MESSAGE_TYPE(omni::net::dial_again)
