#pragma once

#include "app/http/exchange.hpp"
#include "app/http/server.hpp"

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core/flat_buffer.hpp>
#include <boost/beast/http/parser.hpp>
#include <boost/beast/http/string_body.hpp>

#include <chrono>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace omni::http {

/// The door to the I/O thread for other threads; shut when the server ends, so that late answers go nowhere.
class gate {
public:
  explicit gate(boost::asio::io_context& io) : io_(&io) {}
  template <class Function>
  void post(Function&& run) {
    std::lock_guard lock(mutex_);
    if (io_ != nullptr) boost::asio::post(*io_, std::forward<Function>(run));
  }
  void shut() {
    std::lock_guard lock(mutex_);
    io_ = nullptr;
  }

private:
  std::mutex mutex_;
  boost::asio::io_context* io_;
};

class connection;

/// What the connections of one server share. Lives longer than all of them; I/O thread only, but for `worker` and
/// `door`.
struct connection_host {
  server_options options;
  router routes;
  std::shared_ptr<gate> door;
  boost::asio::thread_pool* worker = nullptr; // runs handlers
  std::size_t body_bytes = 0;                 // bodies being read now, over all connections
  bool draining = false;
  std::function<void(connection*)> closed; // a connection is gone
};

/// One client's connection: reads requests one after the other, hands each to its handler, writes the answer.
/// Everything runs on the I/O thread, so handlers never overlap. One read is always under way (also while an answer is
/// being made, which is how a client that goes away is noticed), except while too many pipelined bytes wait. Each timer
/// handler checks that it belongs to the newest deadline.
class connection : public std::enable_shared_from_this<connection> {
public:
  connection(connection_host& host, boost::asio::ip::tcp::socket socket);

  void start();
  /// Answers 503 to whatever comes: one connection too many.
  void start_refusing();
  /// Lets a request in flight finish, then closes; an idle connection closes now.
  void drain();
  /// Ends at once; the open exchange hears that its client is gone.
  void close();

  // From the exchange of request `number`, through the gate; a call that comes late changes nothing.
  void send(std::uint64_t number, response whole);
  void begin_stream(std::uint64_t number, response head);
  void flush(std::uint64_t number);
  void cut(std::uint64_t number);

private:
  using parser = boost::beast::http::request_parser<boost::beast::http::string_body>;
  enum class state { idle, header, body, busy, lingering, closed };
  enum class after_write { read_body, end_answer, stream_on };

  void read();
  void on_read(boost::system::error_code error, std::size_t bytes);
  void advance();
  void on_header();
  bool count_body();
  void release_body();
  void on_request();
  void dispatch();
  void answer_options();
  void on_parse_error(boost::system::error_code error);

  [[nodiscard]] bool answers(std::uint64_t number) const {
    return state_ == state::busy && current_ && number == number_;
  }
  void refuse(int status, std::string_view sentence);
  void answer(response whole);
  [[nodiscard]] std::string head_of(const response& what, std::optional<std::size_t> length);
  void stream_on();
  void write(after_write then);
  void on_written(boost::system::error_code error, std::size_t bytes);
  void end_answer();
  void report();
  void linger();

  void arm(std::chrono::milliseconds duration);
  void disarm();
  void on_timeout();

  connection_host& host_;
  boost::asio::ip::tcp::socket socket_;
  boost::asio::steady_timer timer_;
  std::uint64_t deadline_ = 0; // number of the newest deadline
  state state_ = state::idle;
  bool reading_ = false;
  bool writing_ = false;
  boost::beast::flat_buffer input_;
  std::optional<parser> parser_;
  std::size_t counted_body_ = 0; // of this connection in connection_host::body_bytes
  std::size_t discarded_ = 0;    // bytes thrown away while lingering
  request request_;
  router::match match_;
  std::string name_;   // of the request, for X-Request-Id
  std::string origin_; // of the request, for CORS
  bool http_1_0_ = false;
  bool head_only_ = false;
  bool keep_alive_ = false;
  bool chunked_ = false;
  std::shared_ptr<exchange> current_; // of the request being answered by a handler
  std::uint64_t number_ = 0;          // of that request
  std::string pieces_;                // taken from the exchange, not yet framed
  std::string output_;                // being written
  std::size_t written_ = 0;
  after_write then_ = after_write::end_answer;
  std::optional<answered_request> report_; // of the answer that has begun
  std::string method_;
  std::size_t request_bytes_ = 0;
  std::chrono::steady_clock::time_point asked_at_;
};

} // namespace omni::http
