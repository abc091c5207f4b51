#include "app/http/connection.hpp"

#include "app/http/cors.hpp"
#include "app/http/wire.hpp"

#include <boost/asio/buffer.hpp>
#include <boost/asio/error.hpp>
#include <boost/beast/http/error.hpp>
#include <boost/beast/http/field.hpp>

#include <exception>
#include <utility>

namespace omni::http {
namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;

constexpr std::size_t read_bytes = 16 * 1024;

/// Brings an exchange's calls to its connection's thread. Holds the connection weakly: an answer may be kept by an
/// engine that outlives the server.
class posted_channel final : public exchange::channel {
public:
  posted_channel(std::shared_ptr<gate> door, std::weak_ptr<connection> to, std::uint64_t number)
      : door_(std::move(door)), to_(std::move(to)), number_(number) {}

  void send(response whole) override {
    door_->post([to = to_, number = number_, whole = std::move(whole)]() mutable {
      if (const auto open = to.lock()) open->send(number, std::move(whole));
    });
  }
  void begin_stream(response head) override {
    door_->post([to = to_, number = number_, head = std::move(head)]() mutable {
      if (const auto open = to.lock()) open->begin_stream(number, std::move(head));
    });
  }
  void flush() override {
    door_->post([to = to_, number = number_] {
      if (const auto open = to.lock()) open->flush(number);
    });
  }
  void cut() override {
    door_->post([to = to_, number = number_] {
      if (const auto open = to.lock()) open->cut(number);
    });
  }

private:
  std::shared_ptr<gate> door_;
  std::weak_ptr<connection> to_;
  std::uint64_t number_;
};

} // namespace

connection::connection(connection_host& host, asio::ip::tcp::socket socket)
    : host_(host), socket_(std::move(socket)), timer_(socket_.get_executor()),
      input_(host.options.bounds.header_bytes + read_bytes) {}

void connection::start() {
  arm(host_.options.bounds.idle_timeout);
  read();
}

void connection::start_refusing() {
  state_ = state::header;
  refuse(503, "Too many connections are open: try again later.");
}

void connection::drain() {
  if (state_ == state::idle) close();
}

void connection::close() {
  if (state_ == state::closed) return;
  state_ = state::closed;
  const auto self = shared_from_this(); // the host forgets us below
  disarm();
  release_body();
  report();
  boost::system::error_code ignored; // closing a socket that failed already: nothing to do about it
  socket_.close(ignored);
  if (current_) std::exchange(current_, nullptr)->client_gone();
  host_.closed(this);
}

// Reading

void connection::read() {
  if (reading_ || state_ == state::closed) return;
  const std::size_t room = input_.max_size() - input_.size();
  if (room == 0) return;
  reading_ = true;
  socket_.async_read_some(input_.prepare(std::min(room, read_bytes)),
                          [self = shared_from_this()](boost::system::error_code error, std::size_t bytes) {
                            self->reading_ = false;
                            self->on_read(error, bytes);
                          });
}

void connection::on_read(boost::system::error_code error, std::size_t bytes) {
  if (state_ == state::closed) return;
  if (error == asio::error::eof && writing_ && then_ == after_write::end_answer) {
    keep_alive_ = false; // it only said that it asks nothing more; the answer is on its way
    return;
  }
  if (error) return close();
  input_.commit(bytes);
  switch (state_) {
  case state::lingering:
    discarded_ += input_.size();
    input_.consume(input_.size());
    if (discarded_ > host_.options.bounds.body_bytes) return close();
    return read();
  case state::busy:
    return read();
  default:
    return advance();
  }
}

void connection::advance() {
  namespace http = beast::http;
  if (state_ == state::idle) {
    state_ = state::header;
    asked_at_ = std::chrono::steady_clock::now();
    request_ = {};
    name_.clear();
    method_.clear();
    match_ = {};
    arm(host_.options.bounds.header_timeout);
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(host_.options.bounds.header_bytes));
    parser_->body_limit(host_.options.bounds.body_bytes);
  }
  while (!parser_->is_done()) {
    if (input_.size() == 0) return read();
    boost::system::error_code error;
    const bool had_header = parser_->is_header_done();
    input_.consume(parser_->put(input_.data(), error));
    if (error == http::error::need_more) {
      if (input_.size() == input_.max_size()) return on_parse_error(http::error::header_limit);
      return read();
    }
    if (error) return on_parse_error(error);
    if (!count_body()) return refuse(503, "The server is reading too many large requests: try again later.");
    if (!had_header && parser_->is_header_done()) {
      on_header();
      if (state_ != state::body || writing_) return; // refused, or told to continue: goes on when that is sent
    }
  }
  on_request();
}

bool connection::count_body() {
  const std::size_t size = parser_->get().body().size();
  host_.body_bytes += size - counted_body_;
  counted_body_ = size;
  return host_.body_bytes <= host_.options.bounds.bodies_bytes;
}

void connection::release_body() {
  host_.body_bytes -= counted_body_;
  counted_body_ = 0;
}

void connection::on_parse_error(boost::system::error_code error) {
  using http_error = beast::http::error;
  const limits& bounds = host_.options.bounds;
  if (error == http_error::header_limit)
    return refuse(431, "The request line and headers are larger than " + std::to_string(bounds.header_bytes) +
                           " bytes: send less.");
  if (error == http_error::body_limit)
    return refuse(413, "The body is larger than " + std::to_string(bounds.body_bytes) +
                           " bytes: send less, or start the server with a larger --max-body-bytes.");
  if (error == http_error::bad_version) return refuse(505, "Only HTTP/1.0 and HTTP/1.1 are spoken here.");
  refuse(400, "The request is not valid HTTP/1.1 (" + error.message() + ").");
}

void connection::on_header() {
  const auto& head = parser_->get();
  state_ = state::body;
  asked_at_ = std::chrono::steady_clock::now();
  arm(host_.options.bounds.body_timeout);
  method_ = request_.method = std::string(head.method_string());
  for (const auto& field : head)
    request_.headers.push_back({std::string(field.name_string()), std::string(field.value())});
  if (host_.options.name_request) name_ = host_.options.name_request(request_);
  http_1_0_ = head.version() == 10;
  head_only_ = request_.method == "HEAD";
  keep_alive_ = head.keep_alive();
  origin_ = std::string(request_.value("Origin"));
  if (!http_1_0_ && request_.value("Host").empty() && head.find(beast::http::field::host) == head.end())
    return refuse(400, "An HTTP/1.1 request must carry a Host header.");
  if (head.find(beast::http::field::transfer_encoding) != head.end() && !parser_->chunked()) {
    keep_alive_ = false; // where its body ends is not known
    return refuse(501, "The only Transfer-Encoding known here is chunked.");
  }
  if (!split_target(head.target(), request_.path, request_.query))
    return refuse(400, "The request's target is not a valid path.");
  if (request_.method == "OPTIONS") return; // answered without looking at its body
  match_ = host_.routes.find(request_.method, request_.path);
  if (match_.run == nullptr) {
    if (match_.allow.empty()) return refuse(404, "There is nothing at " + request_.path + ".");
    return refuse(405, request_.path + " does not take " + request_.method + ", but " + match_.allow + ".");
  }
  request_.rest = std::string(match_.rest);
  if (host_.options.guard) {
    if (auto refused = host_.options.guard(request_)) return answer(std::move(*refused));
  }
  if (const std::string_view expect = request_.value("Expect"); !expect.empty()) {
    if (!same_name(expect, "100-continue")) return refuse(417, "The only expectation known here is 100-continue.");
    if (http_1_0_ || parser_->is_done() || input_.size() != 0) return;
    output_ = "HTTP/1.1 100 Continue\r\n\r\n";
    write(after_write::read_body);
  }
}

void connection::on_request() {
  disarm();
  request_.body = std::move(parser_->get().body());
  request_bytes_ = request_.body.size();
  release_body();
  state_ = state::busy;
  if (request_.method == "OPTIONS") return answer_options();
  dispatch();
  read(); // notices a client that goes away, and takes pipelined requests
}

void connection::answer_options() {
  const std::string allow = host_.routes.find("OPTIONS", request_.path).allow;
  if (allow.empty() && request_.path != "*") return refuse(404, "There is nothing at " + request_.path + ".");
  response reply{
      .status = 204, .content_type = {}, .body = {}, .headers = {{"Allow", allow.empty() ? "OPTIONS" : allow}}};
  add_preflight_headers(host_.options.allowed_origins, request_, allow, reply.headers);
  answer(std::move(reply));
}

void connection::dispatch() {
  ++number_;
  current_ = std::make_shared<exchange>(
      std::make_unique<posted_channel>(host_.door, weak_from_this(), number_), host_.options.bounds.stream_bytes,
      host_.options.error_page(500, "The server did not answer this request; its log says why."));
  asio::post(*host_.worker, [run = match_.run, log = &host_.options.log, what = std::move(request_),
                             to = current_->open_handle()]() mutable {
    const std::string path = what.path;
    try {
      (*run)(std::move(what), to);            // `to` is kept until the problem is logged
    } catch (const std::exception& problem) { // what is left unanswered answers 500
      (*log)("A request to " + path + " failed inside the server: " + problem.what());
    }
  });
}

// Answering

void connection::send(std::uint64_t number, response whole) {
  if (!answers(number)) return;
  answer(std::move(whole));
}

void connection::refuse(int status, std::string_view sentence) {
  if (status == 400) keep_alive_ = false; // who sends malformed requests is not understood further
  response page = host_.options.error_page(status, sentence);
  if (status == 405) page.headers.push_back({"Allow", match_.allow});
  if (status == 503) page.headers.push_back({"Retry-After", "1"});
  answer(std::move(page));
}

void connection::answer(response whole) {
  // What was not read of a body cannot be told from the next request.
  keep_alive_ = keep_alive_ && parser_ && parser_->is_done();
  state_ = state::busy;
  release_body();
  const bool bare = head_only_ || whole.status == 204;
  output_ = head_of(whole, whole.body.size());
  if (!bare) output_ += whole.body;
  write(after_write::end_answer);
}

void connection::begin_stream(std::uint64_t number, response head) {
  if (!answers(number)) return;
  chunked_ = !http_1_0_;
  if (!chunked_) keep_alive_ = false;
  output_ = head_of(head, std::nullopt);
  if (!head.body.empty() && !head_only_) add_chunk(head.body, chunked_, output_);
  write(after_write::stream_on);
}

void connection::flush(std::uint64_t number) {
  if (answers(number) && !writing_) stream_on();
}

void connection::cut(std::uint64_t number) {
  if (answers(number)) close();
}

void connection::stream_on() {
  output_.clear();
  switch (current_->take(pieces_)) {
  case exchange::progress::idle:
    return;
  case exchange::progress::more:
    if (head_only_) return stream_on();
    add_chunk(pieces_, chunked_, output_);
    return write(after_write::stream_on);
  case exchange::progress::ended:
    if (!chunked_ || head_only_) return end_answer();
    output_ = "0\r\n\r\n";
    return write(after_write::end_answer);
  }
}

std::string connection::head_of(const response& what, std::optional<std::size_t> length) {
  report_ = answered_request{.pattern = match_.pattern,
                             .method = method_,
                             .status = what.status,
                             .request_bytes = std::exchange(request_bytes_, 0)};
  std::vector<header> headers = what.headers;
  if (name_.empty() && host_.options.name_request) name_ = host_.options.name_request(request_);
  if (!name_.empty()) headers.push_back({"X-Request-Id", name_});
  if (!what.content_type.empty()) headers.push_back({"Content-Type", what.content_type});
  if (length && what.status != 204) headers.push_back({"Content-Length", std::to_string(*length)});
  if (!length && chunked_) headers.push_back({"Transfer-Encoding", "chunked"});
  if (!keep_alive_ || host_.draining)
    headers.push_back({"Connection", "close"});
  else if (http_1_0_)
    headers.push_back({"Connection", "keep-alive"});
  add_cors_headers(host_.options.allowed_origins, origin_, headers);
  return write_head(what.status, headers);
}

void connection::write(after_write then) {
  writing_ = true;
  written_ = 0;
  then_ = then;
  on_written({}, 0);
}

void connection::on_written(boost::system::error_code error, std::size_t bytes) {
  if (state_ == state::closed) return;
  if (error) return close();
  written_ += bytes;
  if (report_) report_->response_bytes += bytes;
  if (written_ < output_.size()) {
    arm(host_.options.bounds.write_timeout);
    socket_.async_write_some(asio::buffer(output_.data() + written_, output_.size() - written_),
                             [self = shared_from_this()](boost::system::error_code failed, std::size_t sent) {
                               self->on_written(failed, sent);
                             });
    return;
  }
  writing_ = false;
  disarm();
  switch (then_) {
  case after_write::read_body:
    arm(host_.options.bounds.body_timeout);
    return advance();
  case after_write::stream_on:
    return stream_on();
  case after_write::end_answer:
    return end_answer();
  }
}

void connection::report() {
  if (!report_) return;
  report_->seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - asked_at_).count();
  if (host_.options.answered) host_.options.answered(*report_);
  report_.reset();
}

void connection::end_answer() {
  report();
  if (current_) std::exchange(current_, nullptr)->complete();
  // With nothing unread, closing cannot take the answer from the client's hands.
  if (keep_alive_ && host_.draining && input_.size() == 0) return close();
  if (!keep_alive_ || host_.draining) return linger();
  state_ = state::idle;
  if (input_.size() != 0) return advance();
  arm(host_.options.bounds.idle_timeout);
  read();
}

/// Closing with unread input makes the kernel reset the connection, which can take the answer from the client's hands:
/// so say that nothing more comes, and read on for a while.
void connection::linger() {
  state_ = state::lingering;
  boost::system::error_code error;
  socket_.shutdown(asio::ip::tcp::socket::shutdown_send, error);
  if (error) return close();
  discarded_ = input_.size();
  input_.consume(input_.size());
  arm(host_.options.bounds.linger_timeout);
  read();
}

// Time

void connection::arm(std::chrono::milliseconds duration) {
  const std::uint64_t mine = ++deadline_;
  timer_.expires_after(duration);
  timer_.async_wait([self = shared_from_this(), mine](boost::system::error_code error) {
    if (!error && mine == self->deadline_) self->on_timeout();
  });
}

void connection::disarm() {
  ++deadline_;
  timer_.cancel();
}

void connection::on_timeout() {
  if (writing_ || state_ == state::idle || state_ == state::lingering) return close();
  if (state_ == state::header) return refuse(408, "The request's headers did not come in time.");
  if (state_ == state::body) return refuse(408, "The request's body did not come in time.");
}

} // namespace omni::http
