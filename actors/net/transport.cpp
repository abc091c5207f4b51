#include "messages/caf.hpp"

#include "actors/net/transport.hpp"

#include <caf/io/network/default_multiplexer.hpp>
#include <caf/io/network/doorman_impl.hpp>
#include <caf/io/network/stream_impl.hpp>

#include <utility>

namespace omni::net {
namespace {

namespace net = caf::io::network;

caf::io::network::default_multiplexer& multiplexer_of(caf::io::broker* owner) {
  return dynamic_cast<net::default_multiplexer&>(owner->backend());
}

/// How the multiplexer reads and writes an encrypted stream.
class tls_policy {
public:
  explicit tls_policy(std::unique_ptr<tls_session> session) : session_(std::move(session)) {}

  net::rw_state read_some(std::size_t& result, net::native_socket, void* into, std::size_t most) {
    return state_of(session_->read(static_cast<char*>(into), most, result));
  }
  net::rw_state write_some(std::size_t& result, net::native_socket, const void* from, std::size_t most) {
    if (most > 0) return state_of(session_->write(static_cast<const char*>(from), most, result));
    result = 0;
    return net::rw_state::indeterminate;
  }
  [[nodiscard]] bool must_read_more(net::native_socket, std::size_t threshold) const {
    return session_->pending() >= threshold;
  }

private:
  static net::rw_state state_of(tls_session::outcome what) {
    return what == tls_session::outcome::broken ? net::rw_state::failure : net::rw_state::success;
  }
  std::unique_ptr<tls_session> session_;
};

/// caf::io::network::scribe_impl over TLS.
class tls_scribe final : public caf::io::scribe {
public:
  tls_scribe(net::default_multiplexer& loop, net::native_socket fd, std::unique_ptr<tls_session> session)
      : scribe(net::conn_hdl_from_socket(fd)), stream_(loop, fd, std::move(session)) {}

  void configure_read(caf::io::receive_policy::config config) override {
    stream_.configure_read(config);
    if (std::exchange(launched_, true)) return;
    stream_.start(this);
  }
  void ack_writes(bool enable) override { stream_.ack_writes(enable); }
  std::vector<char>& wr_buf() override { return stream_.wr_buf(); }
  std::vector<char>& rd_buf() override { return stream_.rd_buf(); }
  void graceful_shutdown() override {
    stream_.graceful_shutdown();
    detach(&stream_.backend(), false);
  }
  void flush() override { stream_.flush(this); }
  std::string addr() const override { return peer_address(stream_.fd()); }
  std::uint16_t port() const override { return 0; }
  void add_to_loop() override { stream_.activate(this); }
  void remove_from_loop() override { stream_.passivate(); }

private:
  bool launched_ = false;
  net::stream_impl<tls_policy> stream_;
};

class listener final : public net::doorman_impl {
public:
  listener(net::default_multiplexer& loop, net::native_socket fd, std::shared_ptr<const tls_context> tls)
      : doorman_impl(loop, fd), tls_(std::move(tls)) {}

  bool new_connection() override {
    if (detached()) return false;
    connected_socket one{socket_holder(acceptor_.accepted_socket()), nullptr};
    prepare(one.socket.get());
    if (tls_) one.session = tls_->accepting(one.socket.get());
    auto* owner = static_cast<caf::io::broker*>(parent());
    return doorman::new_connection(&acceptor_.backend(), add_connection(owner, std::move(one)));
  }

private:
  std::shared_ptr<const tls_context> tls_;
};

} // namespace

caf::io::connection_handle add_connection(caf::io::broker* owner, connected_socket one) {
  if (!one.session) return owner->add_scribe(one.socket.release());
  auto scribe = caf::make_counted<tls_scribe>(multiplexer_of(owner), one.socket.release(), std::move(one.session));
  const auto handle = scribe->hdl();
  owner->add_scribe(std::move(scribe));
  return handle;
}

void add_listener(caf::io::broker* owner, socket_holder listening, std::shared_ptr<const tls_context> tls) {
  owner->add_doorman(caf::make_counted<listener>(multiplexer_of(owner), listening.release(), std::move(tls)));
}

} // namespace omni::net
