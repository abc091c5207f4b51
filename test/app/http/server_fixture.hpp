#pragma once

#include "app/http/server.hpp"
#include "test/app/support/raw_client.hpp"

#include <future>
#include <gtest/gtest.h>
#include <memory>
#include <mutex>
#include <string>
#include <utility>

namespace omni::http {

using test::raw_answer;
using test::raw_client;

/// An event that one thread waits for and another lets happen, once.
template <class T>
class event {
public:
  void set(T value) { promise_.set_value(std::move(value)); }
  T wait() { return promise_.get_future().get(); }

private:
  std::promise<T> promise_;
};

/// A server on a free port whose limits a test may change before `start`.
class http_server : public ::testing::Test {
protected:
  http_server() {
    options.port = 0;
    options.error_page = [](int status, std::string_view sentence) {
      return response{.status = status, .content_type = "text/plain", .body = std::string(sentence)};
    };
    options.log = [this](std::string_view line) {
      std::lock_guard lock(log_mutex);
      log += line;
    };
    routes.add("GET", "/hello", [](const request&, const std::shared_ptr<responder>& to) { to->send({.body = "hi"}); });
    routes.add("POST", "/echo",
               [](request what, const std::shared_ptr<responder>& to) { to->send({.body = std::move(what.body)}); });
  }

  void start() {
    auto made = server::listen(options, routes);
    ASSERT_TRUE(made) << made.error().message;
    running = std::move(*made);
  }
  /// GET /stream hands its responder to the test.
  void add_stream_route() {
    routes.add("GET", "/stream", [this](const request&, std::shared_ptr<responder> to) { asked.set(std::move(to)); });
  }
  [[nodiscard]] std::uint16_t port() const { return running->port(); }

  server_options options;
  router routes;
  std::mutex log_mutex;
  std::string log;
  event<std::shared_ptr<responder>> asked;
  std::unique_ptr<server> running;
};

inline constexpr std::string_view get_stream = "GET /stream HTTP/1.1\r\nHost: test\r\n\r\n";

} // namespace omni::http
