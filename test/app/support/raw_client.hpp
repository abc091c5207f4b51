#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace omni::test {

/// One answer as it came over the wire; a chunked body is put together again.
struct raw_answer {
  int status = 0;                                           // 0: the connection ended before a whole answer came
  std::vector<std::pair<std::string, std::string>> headers; // names in lower case
  std::string body;
  bool complete = false;

  [[nodiscard]] std::string header(std::string_view name) const;
};

/// A TCP client on the loopback that sends exactly the bytes it is told to. Reads wait for the server, without a clock.
class raw_client {
public:
  explicit raw_client(std::uint16_t port, int receive_buffer_bytes = 0);
  ~raw_client();
  raw_client(const raw_client&) = delete;
  raw_client& operator=(const raw_client&) = delete;

  /// False when the server has closed the connection.
  bool send(std::string_view bytes);
  /// Sends a request with a JSON body (none if empty) and reads the answer.
  raw_answer ask(std::string_view method, std::string_view path, std::string_view body = {},
                 std::string_view extra_headers = {});
  /// The next answer; `head`: it has no body whatever its headers say.
  raw_answer read_answer(bool head = false);
  /// Reads until what was received and not yet taken holds `end`; takes it up to there. Empty if the connection ended
  /// before.
  std::string read_until(std::string_view end);
  /// True when nothing more comes: the server closed. Discards what still comes.
  bool closed_by_server();
  void close();
  /// Closes with a reset instead of an orderly end.
  void reset();

private:
  bool receive();
  int socket_ = -1;
  std::string received_;
};

} // namespace omni::test
