#pragma once

#include "actors/net/socket.hpp"
#include "actors/net/tls.hpp"

#include <caf/io/broker.hpp>
#include <caf/io/middleman.hpp>

#include <memory>

namespace omni::net {

/// A connection that was made, with its session if it is encrypted.
struct connected_socket {
  socket_holder socket;
  std::unique_ptr<tls_session> session;
};

/// Makes a broker take over a connected socket.
caf::io::connection_handle add_connection(caf::io::broker* owner, connected_socket one);

/// Makes a broker accept connections, which `tls` encrypts unless it is null.
void add_listener(caf::io::broker* owner, socket_holder listening, std::shared_ptr<const tls_context> tls);

/// The socket of a connection of a broker.
inline int socket_of(caf::io::connection_handle one) { return int(one.id()); }

} // namespace omni::net
