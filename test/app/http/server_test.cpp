#include "test/app/http/server_fixture.hpp"

namespace omni::http {
namespace {

TEST_F(http_server, keeps_a_connection_for_the_next_request) {
  start();
  raw_client client(port());
  EXPECT_EQ(client.ask("GET", "/hello").body, "hi");
  EXPECT_EQ(client.ask("POST", "/echo", "again").body, "again");
}

TEST_F(http_server, answers_pipelined_requests_in_order) {
  start();
  raw_client client(port());
  std::string many;
  for (int i = 0; i < 200; ++i)
    many += "POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 3\r\n\r\n" + std::to_string(100 + i);
  ASSERT_TRUE(client.send(many));
  for (int i = 0; i < 200; ++i) EXPECT_EQ(client.read_answer().body, std::to_string(100 + i));
}

TEST_F(http_server, head_has_the_length_but_no_body) {
  start();
  raw_client client(port());
  const raw_answer answer = client.ask("HEAD", "/hello");
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.header("content-length"), "2");
  EXPECT_EQ(client.ask("GET", "/hello").body, "hi");
}

TEST_F(http_server, unknown_paths_and_methods_leave_the_connection_open) {
  start();
  raw_client client(port());
  EXPECT_EQ(client.ask("GET", "/nothing").status, 404);
  const raw_answer wrong = client.ask("DELETE", "/echo");
  EXPECT_EQ(wrong.status, 405);
  EXPECT_EQ(wrong.header("allow"), "POST, OPTIONS");
  EXPECT_EQ(client.ask("GET", "/hello").body, "hi");
}

TEST_F(http_server, a_body_in_an_unknown_coding_is_not_taken_for_the_next_request) {
  start();
  raw_client client(port());
  ASSERT_TRUE(client.send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: gzip\r\n\r\n"
                          "GET /hello HTTP/1.1\r\nHost: t\r\n\r\n"));
  EXPECT_EQ(client.read_answer().status, 501);
  EXPECT_TRUE(client.closed_by_server());
}

TEST_F(http_server, every_answer_carries_the_name_of_its_request) {
  options.name_request = [](const request& what) { return "name of " + what.method + " " + what.path; };
  start();
  raw_client client(port());
  EXPECT_EQ(client.ask("GET", "/hello").header("x-request-id"), "name of GET ");
  EXPECT_EQ(client.ask("GET", "/nothing").header("x-request-id"), "name of GET ");
  EXPECT_EQ(client.ask("OPTIONS", "/echo").header("x-request-id"), "name of OPTIONS ");
  ASSERT_TRUE(client.send("nonsense\r\n\r\n"));
  EXPECT_EQ(client.read_answer().header("x-request-id"), "name of  ");
}

TEST_F(http_server, a_refused_request_with_a_body_ends_the_connection) {
  start();
  raw_client client(port());
  EXPECT_EQ(client.ask("POST", "/nothing", std::string(100'000, 'x')).status, 404);
  EXPECT_TRUE(client.closed_by_server());
}

TEST_F(http_server, options_names_the_methods_and_answers_a_browsers_preflight) {
  options.allowed_origins = {"http://page"};
  start();
  raw_client client(port());
  const raw_answer answer = client.ask("OPTIONS", "/echo", {},
                                       "Origin: http://page\r\nAccess-Control-Request-Method: POST\r\n"
                                       "Access-Control-Request-Headers: authorization\r\n");
  EXPECT_EQ(answer.status, 204);
  EXPECT_EQ(answer.header("allow"), "POST, OPTIONS");
  EXPECT_EQ(answer.header("access-control-allow-origin"), "http://page");
  EXPECT_EQ(answer.header("access-control-allow-headers"), "authorization");
  EXPECT_EQ(client.ask("GET", "/hello", {}, "Origin: http://page\r\n").header("access-control-allow-origin"),
            "http://page");
  EXPECT_EQ(client.ask("GET", "/hello", {}, "Origin: http://other\r\n").header("access-control-allow-origin"), "");
}

TEST_F(http_server, http_1_0_closes_unless_asked_to_keep) {
  start();
  raw_client closing(port());
  closing.send("GET /hello HTTP/1.0\r\n\r\n");
  EXPECT_EQ(closing.read_answer().header("connection"), "close");
  EXPECT_TRUE(closing.closed_by_server());
  raw_client keeping(port());
  keeping.send("GET /hello HTTP/1.0\r\nConnection: keep-alive\r\n\r\n");
  EXPECT_EQ(keeping.read_answer().header("connection"), "keep-alive");
  EXPECT_EQ(keeping.ask("GET", "/hello").body, "hi");
}

TEST_F(http_server, connection_close_is_honoured) {
  start();
  raw_client client(port());
  EXPECT_EQ(client.ask("GET", "/hello", {}, "Connection: close\r\n").header("connection"), "close");
  EXPECT_TRUE(client.closed_by_server());
}

TEST_F(http_server, puts_a_chunked_upload_together) {
  start();
  raw_client client(port());
  client.send("POST /echo HTTP/1.1\r\nHost: t\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n");
  client.send("4;name=value\r\ndefg\r\n0\r\nTrailer: x\r\n\r\n");
  EXPECT_EQ(client.read_answer().body, "abcdefg");
  EXPECT_EQ(client.ask("GET", "/hello").body, "hi");
}

TEST_F(http_server, a_byte_at_a_time_is_a_request_too) {
  start();
  raw_client client(port());
  for (const char c : std::string("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\n\r\nok"))
    client.send({&c, 1});
  EXPECT_EQ(client.read_answer().body, "ok");
}

TEST_F(http_server, expect_continue_is_told_to_go_on) {
  start();
  raw_client client(port());
  client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 100);
  client.send("ok");
  EXPECT_EQ(client.read_answer().body, "ok");
}

TEST_F(http_server, expect_continue_is_told_the_refusal_instead) {
  options.bounds.body_bytes = 10;
  start();
  for (const auto& [request, status] :
       {std::pair{"POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 11\r\nExpect: 100-continue\r\n\r\n", 413},
        {"POST /none HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n", 404},
        {"POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 2\r\nExpect: miracles\r\n\r\n", 417}}) {
    raw_client client(port());
    client.send(request);
    EXPECT_EQ(client.read_answer().status, status);
    EXPECT_TRUE(client.closed_by_server());
  }
}

TEST_F(http_server, the_guard_refuses_before_the_body_is_read) {
  options.guard = [](const request& what) -> std::optional<response> {
    if (what.value("authorization") == "Bearer key") return {};
    return response{.status = 401, .content_type = "text/plain", .body = "no"};
  };
  start();
  raw_client client(port());
  client.send("POST /echo HTTP/1.1\r\nHost: t\r\nContent-Length: 1000000\r\n\r\n");
  EXPECT_EQ(client.read_answer().status, 401);
  raw_client second(port());
  EXPECT_EQ(second.ask("POST", "/echo", "x", "Authorization: Bearer key\r\n").body, "x");
}

TEST_F(http_server, a_handler_that_throws_answers_500_and_is_logged) {
  routes.add("GET", "/throws",
             [](const request&, const std::shared_ptr<responder>&) { throw std::runtime_error("a bug"); });
  start();
  raw_client client(port());
  EXPECT_EQ(client.ask("GET", "/throws").status, 500);
  std::lock_guard lock(log_mutex);
  EXPECT_NE(log.find("a bug"), std::string::npos);
}

TEST_F(http_server, a_dropped_request_answers_500) {
  routes.add("GET", "/drops", [](const request&, const std::shared_ptr<responder>&) {});
  start();
  raw_client client(port());
  EXPECT_EQ(client.ask("GET", "/drops").status, 500);
  EXPECT_EQ(client.ask("GET", "/hello").body, "hi");
}

TEST_F(http_server, only_the_first_answer_counts) {
  routes.add("GET", "/twice", [](const request&, const std::shared_ptr<responder>& to) {
    to->send({.body = "one"});
    to->send({.body = "two"});
  });
  start();
  raw_client client(port());
  EXPECT_EQ(client.ask("GET", "/twice").body, "one");
  EXPECT_EQ(client.ask("GET", "/hello").body, "hi");
}

TEST_F(http_server, a_taken_port_is_a_clear_sentence) {
  start();
  server_options second = options;
  second.port = port();
  const auto made = server::listen(second, routes);
  ASSERT_FALSE(made);
  EXPECT_NE(made.error().message.find("Cannot listen on 127.0.0.1:" + std::to_string(port())), std::string::npos);
}

} // namespace
} // namespace omni::http
