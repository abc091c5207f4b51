#pragma once

#include "messages/errc.hpp"

#include <chrono>
#include <cstdint>
#include <string>

namespace omni::net {

/// A file descriptor of a socket; closes it unless it was given away.
class socket_holder {
public:
  explicit socket_holder(int fd = -1) : fd_(fd) {}
  ~socket_holder();
  socket_holder(socket_holder&& other) noexcept : fd_(other.release()) {}
  socket_holder& operator=(socket_holder&& other) noexcept;
  socket_holder(const socket_holder&) = delete;
  socket_holder& operator=(const socket_holder&) = delete;
  [[nodiscard]] int get() const { return fd_; }
  int release();

private:
  int fd_;
};

/// Whether an address is a number that only this machine reaches, or "localhost". Other names may mean anything.
bool is_loopback(const std::string& address);

struct listening_socket {
  socket_holder socket;
  std::uint16_t port = 0;
};
/// Listens on an address; port 0 takes a free one. Errors: `load_failed`, a sentence.
expected<listening_socket> listen_on(const std::string& address, std::uint16_t port);

/// Connects, and waits for it at most so long. Errors: `load_failed`, the reason alone ("Connection refused").
expected<socket_holder> connect_to(const std::string& address, std::uint16_t port, std::chrono::milliseconds most);

/// What an accepted or connected socket needs: small frames go at once, and no program started from here inherits it.
void prepare(int fd);

/// The address of the other end, as numbers; empty if the socket is not connected.
std::string peer_address(int fd);

/// Waits until a socket can be read or written; false after `most`.
bool wait_for(int fd, bool to_write, std::chrono::milliseconds most);

} // namespace omni::net
