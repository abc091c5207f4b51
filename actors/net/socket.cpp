#include "actors/net/socket.hpp"

#include <arpa/inet.h>
#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace omni::net {
namespace {

using address_list = std::unique_ptr<addrinfo, decltype(&freeaddrinfo)>;

expected<address_list> resolve(const std::string& address, std::uint16_t port, int flags) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = flags | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int problem = getaddrinfo(address.c_str(), std::to_string(port).c_str(), &hints, &found);
  if (problem != 0) return fail(errc::load_failed, gai_strerror(problem));
  return address_list(found, &freeaddrinfo);
}

std::string reason(int error) { return std::strerror(error); }

/// Connects to one address, without waiting longer than `most`; 0 or the error.
int connect_one(int fd, const addrinfo& to, std::chrono::milliseconds most) {
  if (::connect(fd, to.ai_addr, to.ai_addrlen) == 0) return 0;
  if (errno != EINPROGRESS) return errno;
  if (!wait_for(fd, true, most)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  return getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 ? error : errno;
}

std::string name_of(const sockaddr_storage& address, socklen_t size) {
  std::array<char, NI_MAXHOST> text{};
  const auto* generic = reinterpret_cast<const sockaddr*>(&address);
  if (getnameinfo(generic, size, text.data(), text.size(), nullptr, 0, NI_NUMERICHOST) != 0) return {};
  return text.data();
}

std::uint16_t port_of(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

} // namespace

socket_holder::~socket_holder() {
  if (fd_ >= 0) ::close(fd_);
}

socket_holder& socket_holder::operator=(socket_holder&& other) noexcept {
  if (this != &other) {
    if (fd_ >= 0) ::close(fd_);
    fd_ = other.release();
  }
  return *this;
}

int socket_holder::release() { return std::exchange(fd_, -1); }

bool is_loopback(const std::string& address) {
  in_addr v4{};
  in6_addr v6{};
  if (inet_pton(AF_INET, address.c_str(), &v4) == 1) return ntohl(v4.s_addr) >> 24U == 127;
  return address == "localhost" || (inet_pton(AF_INET6, address.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6));
}

expected<listening_socket> listen_on(const std::string& address, std::uint16_t port) {
  const std::string where = "Cannot listen on " + address + ":" + std::to_string(port) + " for replicas: ";
  const auto found = resolve(address, port, AI_PASSIVE);
  if (!found) return fail(errc::load_failed, where + found.error().message + ".");
  int error = EADDRNOTAVAIL;
  for (const auto* one = found->get(); one != nullptr; one = one->ai_next) {
    socket_holder socket(::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, one->ai_protocol));
    const int yes = 1;
    setsockopt(socket.get(), SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    if (::bind(socket.get(), one->ai_addr, one->ai_addrlen) == 0 && ::listen(socket.get(), SOMAXCONN) == 0) {
      const auto bound = port_of(socket.get());
      return listening_socket{std::move(socket), bound};
    }
    error = errno;
  }
  return fail(errc::load_failed, where + reason(error) + ".");
}

expected<socket_holder> connect_to(const std::string& address, std::uint16_t port, std::chrono::milliseconds most) {
  const auto found = resolve(address, port, 0);
  if (!found) return tl::unexpected(found.error());
  int error = EADDRNOTAVAIL;
  for (const auto* one = found->get(); one != nullptr; one = one->ai_next) {
    socket_holder socket(::socket(one->ai_family, one->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, one->ai_protocol));
    error = socket.get() < 0 ? errno : connect_one(socket.get(), *one, most);
    if (error == 0) {
      prepare(socket.get());
      return socket;
    }
  }
  return fail(errc::load_failed, reason(error));
}

void prepare(int fd) {
  const int yes = 1;
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_NONBLOCK);
  fcntl(fd, F_SETFD, FD_CLOEXEC);
}

std::string peer_address(int fd) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getpeername(fd, reinterpret_cast<sockaddr*>(&address), &size) != 0) return {};
  return name_of(address, size);
}

bool wait_for(int fd, bool to_write, std::chrono::milliseconds most) {
  pollfd watched{fd, short(to_write ? POLLOUT : POLLIN), 0};
  int found = 0;
  while ((found = ::poll(&watched, 1, int(most.count()))) < 0 && errno == EINTR) {}
  return found > 0;
}

} // namespace omni::net
