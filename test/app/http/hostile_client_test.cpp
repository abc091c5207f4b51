#include "test/app/http/server_fixture.hpp"

#include <vector>

namespace omni::http {
namespace {

TEST_F(http_server, garbage_is_answered_400_and_closed) {
  start();
  const std::string zeros(200, '\0');
  for (const std::string& bytes :
       {std::string("\x16\x03\x01\x02\x00\x01\x00 tls hello\r\n\r\n"), std::string("GET\r\n\r\n"), zeros,
        std::string("GET / HTTP/1.1\r\nno colon here\r\n\r\n"), std::string("GET /hello HTTP/1.1\r\nHost : t\r\n\r\n"),
        std::string(
            "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"),
        std::string("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef"),
        std::string("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: -1\r\n\r\n"),
        std::string("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 99999999999999999999999\r\n\r\n"),
        std::string("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n"),
        std::string("GET /hello HTTP/1.1\r\n\r\n"), std::string("GET /%zz HTTP/1.1\r\nHost: t\r\n\r\n"),
        std::string("GET hello HTTP/1.1\r\nHost: t\r\n\r\n")}) {
    raw_client client(port());
    client.send(bytes);
    EXPECT_EQ(client.read_answer().status, 400) << bytes;
    EXPECT_TRUE(client.closed_by_server());
  }
  raw_client client(port());
  EXPECT_EQ(client.ask("GET", "/hello").status, 200);
}

TEST_F(http_server, another_version_of_http_is_refused) {
  start();
  raw_client client(port());
  client.send("GET /hello HTTP/2.0\r\nHost: t\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 505);
}

TEST_F(http_server, endless_headers_are_answered_431) {
  options.bounds.header_bytes = 4096;
  start();
  for (const bool one_line : {true, false}) {
    raw_client client(port());
    client.send("GET /hello HTTP/1.1\r\n");
    for (int i = 0; i < 1000; ++i)
      if (!client.send(one_line ? "X" + std::string(40, 'x') : "X: " + std::string(40, 'x') + "\r\n")) break;
    EXPECT_EQ(client.read_answer().status, 431);
  }
}

TEST_F(http_server, a_body_over_the_limit_is_answered_413) {
  options.bounds.body_bytes = 1000;
  start();
  raw_client announced(port());
  EXPECT_EQ(announced.ask("POST", "/echo", std::string(1001, 'x')).status, 413);
  raw_client chunked(port());
  chunked.send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n");
  for (int i = 0; i < 11; ++i) chunked.send("64\r\n" + std::string(100, 'x') + "\r\n");
  EXPECT_EQ(chunked.read_answer().status, 413);
  raw_client just(port());
  EXPECT_EQ(just.ask("POST", "/echo", std::string(1000, 'x')).body.size(), 1000U);
}

TEST_F(http_server, bodies_of_all_connections_share_a_budget) {
  options.bounds.bodies_bytes = 1000;
  start();
  const std::string head = "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 900\r\nExpect: 100-continue\r\n\r\n";
  raw_client first(port());
  first.send(head);
  EXPECT_EQ(first.read_answer().status, 100);
  first.send(std::string(600, 'x'));
  raw_client second(port());
  // The server reads sockets in no promised order: a third connection's whole exchange shows that the first one's bytes
  // were read.
  raw_client between(port());
  EXPECT_EQ(between.ask("GET", "/hello").status, 200);
  second.send(head);
  EXPECT_EQ(second.read_answer().status, 100);
  second.send(std::string(600, 'x'));
  EXPECT_EQ(second.read_answer().status, 503);
  first.send(std::string(300, 'x'));
  EXPECT_EQ(first.read_answer().body.size(), 900U);
  raw_client third(port());
  EXPECT_EQ(third.ask("POST", "/echo", std::string(900, 'x')).status, 200);
}

TEST_F(http_server, half_a_request_is_answered_408_and_closed) {
  options.bounds.header_timeout = std::chrono::milliseconds(20);
  options.bounds.body_timeout = std::chrono::milliseconds(20);
  start();
  for (const char* half : {"GET /hel", "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 10\r\n\r\nhalf"}) {
    raw_client client(port());
    client.send(half);
    EXPECT_EQ(client.read_answer().status, 408);
    EXPECT_TRUE(client.closed_by_server());
  }
}

TEST_F(http_server, an_idle_connection_is_closed_without_a_word) {
  options.bounds.idle_timeout = std::chrono::milliseconds(20);
  start();
  raw_client silent(port());
  EXPECT_EQ(silent.read_answer().status, 0);
  raw_client after_one(port());
  EXPECT_EQ(after_one.ask("GET", "/hello").status, 200);
  EXPECT_EQ(after_one.read_answer().status, 0);
}

TEST_F(http_server, one_connection_too_many_is_answered_503) {
  options.bounds.max_connections = 2;
  start();
  raw_client first(port());
  raw_client second(port());
  EXPECT_EQ(first.ask("GET", "/hello").status, 200);
  EXPECT_EQ(second.ask("GET", "/hello").status, 200);
  raw_client third(port());
  const raw_answer refused = third.read_answer();
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.header("retry-after"), "1");
  EXPECT_TRUE(third.closed_by_server());
}

TEST_F(http_server, a_place_is_free_again_after_a_disconnect) {
  options.bounds.max_connections = 1;
  options.bounds.linger_timeout = std::chrono::milliseconds(20);
  start();
  for (int i = 0; i < 20; ++i) {
    raw_client client(port());
    const raw_answer answer = client.ask("GET", "/hello", {}, "Connection: close\r\n");
    EXPECT_EQ(answer.status, 200);
    EXPECT_TRUE(client.closed_by_server());
    client.close();
    // The server learns of this after its own close: a refused try tells that it has not yet.
    for (;;) {
      raw_client next(port());
      if (next.ask("GET", "/hello").status == 200) break;
    }
  }
}

TEST_F(http_server, a_flood_of_pipelined_bytes_waits_in_the_kernel) {
  add_stream_route();
  options.bounds.header_bytes = 4096;
  start();
  raw_client client(port());
  client.send(get_stream);
  const auto to = asked.wait();
  std::string many;
  for (int i = 0; i < 2000; ++i) many += "GET /hello HTTP/1.1\r\nHost: t\r\n\r\n";
  client.send(many);
  to->send({.body = "first"});
  EXPECT_EQ(client.read_answer().body, "first");
  for (int i = 0; i < 2000; ++i) ASSERT_EQ(client.read_answer().body, "hi") << i;
}

} // namespace
} // namespace omni::http
