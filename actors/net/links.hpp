#pragma once

#include "actors/net/bulk.hpp"
#include "actors/net/transport.hpp"
#include "actors/net/wire_messages.hpp"
#include "messages/clock.hpp"

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>

namespace omni::net {

/// Names a connection; never reused.
using link_id = std::uint64_t;

inline constexpr time_us heartbeat_us = 500'000;
inline constexpr time_us silence_us = 2'000'000;  // then a peer is taken for dead
inline constexpr time_us stranger_us = 2'000'000; // time for a hello
inline constexpr time_us tick_us = 250'000;

/// The connections of one broker: frames in and out, bulk messages with their credit, heartbeats. Whoever connects is
/// a stranger, with small limits and little time, until the owner trusts it. A peer that breaks a rule is cut off.
class link_set {
public:
  /// What the owner hears. Links may be closed from within.
  struct listener {
    std::function<void(link_id, frame_kind, std::span<const char> body)> on_frame;
    std::function<void(link_id, bulk_kind, std::span<const char> body)> on_message;
    std::function<void(link_id, const std::string& why)> on_lost; // `why`: "closed the connection"
  };

  link_set(caf::io::broker* owner, listener hears) : owner_(owner), hears_(std::move(hears)) {}

  /// Takes a connection in; one that was dialled is trusted. `last_words`: of its TLS session, if any.
  link_id add(caf::io::connection_handle handle, bool trusted, std::shared_ptr<const std::string> last_words = {});
  void trust(link_id which);
  /// Where the other end is, as a number.
  [[nodiscard]] std::string address(link_id which) const;

  void send(link_id to, const bytes& frame);
  void send_bulk(link_id to, bytes message);
  /// Whether all bulk messages were given to the network.
  [[nodiscard]] bool idle(link_id which) const;
  /// Closes after what was sent is written; `on_lost` is not called.
  void close(link_id which);
  /// Cuts the connection; `on_lost` is called.
  void lose(link_id which, const std::string& why);

  void on_data(const caf::io::new_data_msg& what);
  void on_closed(const caf::io::connection_closed_msg& what);
  /// Sends heartbeats, and cuts off who is silent. To be called every `tick_us`.
  void on_tick();

private:
  struct link {
    caf::io::connection_handle handle;
    bool trusted = false;
    bool in_body = false; // of a frame; else in its length
    time_us since = 0;
    time_us heard = 0;
    time_us sent = 0;
    bulk_sender out;
    bulk_receiver in;
    std::shared_ptr<const std::string> last_words;
  };
  void on_length(link_id which, link& from, const std::vector<char>& data);
  void on_frame(link_id which, std::span<const char> frame);
  void on_part(link_id which, bool first, std::span<const char> body);
  void pump(link& to);
  void write(link& to, const bytes& frame);
  [[nodiscard]] time_us now() const { return now_us(owner_); }

  caf::io::broker* owner_;
  listener hears_;
  std::map<link_id, link> links_;
  std::map<caf::io::connection_handle, link_id> by_handle_;
  link_id last_ = 0;
};

} // namespace omni::net
