#pragma once

#include "app/http/limits.hpp"
#include "app/http/router.hpp"
#include "messages/errc.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omni::http {

/// One answer, after its last byte was written (or the client went away).
struct answered_request {
  std::string_view pattern; // of the route; empty if no route was found
  std::string_view method;
  int status = 0;
  std::size_t request_bytes = 0;  // of its body
  std::size_t response_bytes = 0; // of its head and body, as written
  double seconds = 0;             // since its headers were read
};

struct server_options {
  std::string host = "127.0.0.1"; // name or address
  std::uint16_t port = 8000;      // 0: any free one, see server::port
  limits bounds;
  std::vector<std::string> allowed_origins; // for browsers (CORS); "*" allows all; empty: no CORS headers
  /// The X-Request-Id of the answer to a request. Runs on the I/O thread: must be quick.
  std::function<std::string(const request&)> name_request;
  /// Makes the body of what the server itself refuses (400, 404, 405, 408, 413, 417, 431, 500, 501, 503).
  std::function<response(int status, std::string_view sentence)> error_page;
  /// Looks at a request before its body is read; an answer refuses it. Runs on the I/O thread: must be quick.
  std::function<std::optional<response>(const request&)> guard;
  /// Hears of every answer, for statistics. Runs on the I/O thread: must be quick.
  std::function<void(const answered_request&)> answered;
  /// Takes one line per problem of the server itself; any thread.
  std::function<void(std::string_view line)> log;
};

/// An HTTP/1.1 server: one I/O thread for all connections, one worker thread for handlers. Keep-alive, pipelining,
/// chunked bodies both ways, Expect: 100-continue, HEAD, OPTIONS, HTTP/1.0.
class server {
public:
  /// Binds and begins to serve. Fails with a sentence when the address cannot be used.
  static expected<std::unique_ptr<server>> listen(server_options options, router routes);
  /// Ends at once: every open connection is closed and its `on_close` called.
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  [[nodiscard]] std::uint16_t port() const;

  /// Accepts nothing more, closes idle connections, lets requests in flight finish; `done` is called from the I/O
  /// thread once no connection is left.
  void drain(std::function<void()> done);

private:
  struct impl;
  explicit server(std::unique_ptr<impl> state);
  std::unique_ptr<impl> impl_;
};

} // namespace omni::http
