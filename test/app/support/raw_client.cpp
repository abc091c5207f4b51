#include "test/app/support/raw_client.hpp"

#include <arpa/inet.h>
#include <array>
#include <netinet/in.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>

namespace omni::test {

std::string raw_answer::header(std::string_view name) const {
  for (const auto& [key, value] : headers)
    if (key == name) return value;
  return {};
}

raw_client::raw_client(std::uint16_t port, int receive_buffer_bytes) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  if (receive_buffer_bytes > 0)
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVBUF, &receive_buffer_bytes, sizeof receive_buffer_bytes);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_port = htons(port);
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&where), sizeof where) != 0) {
    close();
    throw std::runtime_error("cannot connect to the server under test");
  }
}

raw_client::~raw_client() { close(); }

void raw_client::close() {
  if (socket_ >= 0) ::close(socket_);
  socket_ = -1;
}

void raw_client::reset() {
  const linger at_once{1, 0};
  ::setsockopt(socket_, SOL_SOCKET, SO_LINGER, &at_once, sizeof at_once);
  close();
}

bool raw_client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(std::size_t(sent));
  }
  return true;
}

bool raw_client::receive() {
  std::array<char, 65536> buffer;
  const ssize_t got = ::recv(socket_, buffer.data(), buffer.size(), 0);
  if (got <= 0) return false;
  received_.append(buffer.data(), std::size_t(got));
  return true;
}

std::string raw_client::read_until(std::string_view end) {
  std::size_t at = 0;
  while ((at = received_.find(end)) == std::string::npos)
    if (!receive()) return {};
  std::string out = received_.substr(0, at + end.size());
  received_.erase(0, at + end.size());
  return out;
}

bool raw_client::closed_by_server() {
  while (receive()) received_.clear();
  return true;
}

raw_answer raw_client::ask(std::string_view method, std::string_view path, std::string_view body,
                           std::string_view extra_headers) {
  std::string text =
      std::string(method) + " " + std::string(path) + " HTTP/1.1\r\nHost: test\r\n" + std::string(extra_headers);
  if (!body.empty())
    text += "Content-Type: application/json\r\nContent-Length: " + std::to_string(body.size()) + "\r\n";
  if (!send(text + "\r\n" + std::string(body))) return {};
  return read_answer(method == "HEAD");
}

raw_answer raw_client::read_answer(bool head) {
  raw_answer answer;
  std::string top = read_until("\r\n\r\n");
  if (top.size() < 12 || !top.starts_with("HTTP/1.1 ")) return answer;
  answer.status = std::stoi(top.substr(9, 3));
  std::size_t line = top.find("\r\n") + 2;
  while (line + 2 < top.size()) {
    const std::size_t end = top.find("\r\n", line);
    const std::size_t colon = top.find(": ", line);
    std::string name = top.substr(line, colon - line);
    for (char& c : name) c = char(std::tolower(static_cast<unsigned char>(c)));
    answer.headers.emplace_back(name, top.substr(colon + 2, end - colon - 2));
    line = end + 2;
  }
  if (head || answer.status == 204 || answer.status == 100) {
    answer.complete = true;
  } else if (answer.header("transfer-encoding") == "chunked") {
    for (;;) {
      const std::string size_line = read_until("\r\n");
      if (size_line.empty()) return answer;
      const std::size_t size = std::stoull(size_line, nullptr, 16);
      while (received_.size() < size + 2)
        if (!receive()) return answer;
      answer.body += received_.substr(0, size);
      received_.erase(0, size + 2);
      if (size == 0) break;
    }
    answer.complete = true;
  } else if (const std::string length = answer.header("content-length"); !length.empty()) {
    while (received_.size() < std::stoull(length))
      if (!receive()) return answer;
    answer.body = received_.substr(0, std::stoull(length));
    received_.erase(0, answer.body.size());
    answer.complete = true;
  } else {
    while (receive()) {}
    answer.body.swap(received_);
    answer.complete = true;
  }
  return answer;
}

} // namespace omni::test
