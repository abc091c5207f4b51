#include "test/app/http/server_fixture.hpp"

#include <atomic>
#include <thread>
#include <vector>

namespace omni::http {
namespace {

TEST_F(http_server, a_stream_sends_each_piece_when_it_is_written) {
  add_stream_route();
  start();
  raw_client client(port());
  client.send(get_stream);
  const auto to = asked.wait();
  const auto out = to->stream({.content_type = "text/event-stream"});
  EXPECT_TRUE(out->write("one "));
  EXPECT_NE(client.read_until("one ").find("Transfer-Encoding: chunked"), std::string::npos);
  EXPECT_TRUE(out->write("two "));
  client.read_until("two ");
  out->finish();
  EXPECT_NE(client.read_until("0\r\n\r\n"), "");
  EXPECT_EQ(client.ask("GET", "/hello").body, "hi");
}

TEST_F(http_server, many_threads_may_write_many_streams) {
  constexpr int streams = 32;
  constexpr int pieces = 500;
  routes.add("GET", "/many", [](const request&, const std::shared_ptr<responder>& to) {
    std::thread([out = to->stream({})] {
      for (int i = 0; i < pieces; ++i) out->write("piece");
      out->finish();
    }).detach();
  });
  start();
  std::vector<std::thread> clients;
  std::atomic<int> good{0};
  for (int i = 0; i < streams; ++i)
    clients.emplace_back([&] {
      raw_client client(port());
      const raw_answer answer = client.ask("GET", "/many");
      if (answer.complete && answer.body.size() == std::size_t(5 * pieces)) ++good;
    });
  for (auto& client : clients) client.join();
  EXPECT_EQ(good, streams);
}

TEST_F(http_server, pieces_written_before_the_head_is_sent_are_not_lost) {
  routes.add("GET", "/quick", [](const request&, const std::shared_ptr<responder>& to) {
    const auto out = to->stream({.body = "head "});
    for (int i = 0; i < 100; ++i) out->write("x");
    out->finish();
  });
  start();
  raw_client client(port());
  EXPECT_EQ(client.ask("GET", "/quick").body, "head " + std::string(100, 'x'));
}

TEST_F(http_server, http_1_0_gets_a_stream_that_ends_with_the_connection) {
  add_stream_route();
  start();
  raw_client client(port());
  client.send("GET /stream HTTP/1.0\r\n\r\n");
  const auto out = asked.wait()->stream({});
  out->write("plain");
  out->finish();
  const raw_answer answer = client.read_answer();
  EXPECT_EQ(answer.header("transfer-encoding"), "");
  EXPECT_EQ(answer.body, "plain");
}

TEST_F(http_server, a_client_that_leaves_a_silent_stream_is_noticed) {
  for (const bool by_reset : {false, true}) {
    event<bool> gone;
    event<std::shared_ptr<stream_writer>> opened;
    routes = {};
    routes.add("GET", "/stream", [&](const request&, const std::shared_ptr<responder>& to) {
      to->on_close([&] { gone.set(true); });
      opened.set(to->stream({}));
    });
    start();
    raw_client client(port());
    client.send(get_stream);
    const auto out = opened.wait();
    out->write("first");
    client.read_until("first");
    by_reset ? client.reset() : client.close();
    EXPECT_TRUE(gone.wait());
    EXPECT_FALSE(out->write("nobody hears this"));
  }
}

TEST_F(http_server, a_client_that_leaves_before_any_answer_is_noticed) {
  add_stream_route();
  start();
  raw_client client(port());
  client.send(get_stream);
  const auto to = asked.wait();
  event<bool> gone;
  to->on_close([&] { gone.set(true); });
  client.close();
  EXPECT_TRUE(gone.wait());
  event<bool> told_at_once;
  to->on_close([&] { told_at_once.set(true); });
  EXPECT_TRUE(told_at_once.wait());
  to->send({.body = "nobody"});
}

TEST_F(http_server, a_finished_answer_is_never_called_closed) {
  add_stream_route();
  start();
  auto client = std::make_unique<raw_client>(port());
  client->send(get_stream);
  auto to = asked.wait();
  bool gone = false;
  to->on_close([&] { gone = true; });
  to->send({.body = "done"});
  EXPECT_EQ(client->read_answer().body, "done");
  EXPECT_EQ(client->ask("GET", "/hello").body, "hi");
  client->reset();
  running.reset();
  EXPECT_FALSE(gone);
}

TEST_F(http_server, a_reader_that_falls_behind_the_cap_is_cut_off) {
  add_stream_route();
  options.bounds.stream_bytes = 64 * 1024;
  start();
  raw_client client(port(), 4096);
  client.send(get_stream);
  const auto to = asked.wait();
  event<bool> gone;
  to->on_close([&] { gone.set(true); });
  const auto out = to->stream({});
  const std::string piece(1024, 'x');
  while (out->write(piece)) {}
  EXPECT_TRUE(gone.wait());
  EXPECT_FALSE(client.read_answer().complete);
}

TEST_F(http_server, a_reader_that_stops_is_cut_off_after_the_write_timeout) {
  add_stream_route();
  options.bounds.write_timeout = std::chrono::milliseconds(20);
  options.bounds.stream_bytes = 64 * 1024 * 1024;
  start();
  raw_client client(port(), 4096);
  client.send(get_stream);
  const auto to = asked.wait();
  event<bool> gone;
  to->on_close([&] { gone.set(true); });
  to->stream({})->write(std::string(32 * 1024 * 1024, 'x'));
  EXPECT_TRUE(gone.wait());
}

TEST_F(http_server, a_dropped_or_abandoned_stream_is_seen_as_incomplete) {
  for (const bool dropped : {true, false}) {
    routes = {};
    routes.add("GET", "/broken", [&](const request&, const std::shared_ptr<responder>& to) {
      const auto out = to->stream({.body = "half"});
      if (!dropped) out->abandon();
    });
    start();
    raw_client client(port());
    EXPECT_FALSE(client.ask("GET", "/broken").complete);
  }
}

TEST_F(http_server, drain_finishes_what_runs_and_refuses_what_comes) {
  add_stream_route();
  start();
  raw_client idle(port());
  EXPECT_EQ(idle.ask("GET", "/hello").body, "hi");
  raw_client client(port());
  client.send(get_stream);
  const auto out = asked.wait()->stream({});
  out->write("before ");
  client.read_until("before ");
  event<bool> drained;
  running->drain([&] { drained.set(true); });
  EXPECT_TRUE(idle.closed_by_server());
  EXPECT_THROW(raw_client{port()}, std::runtime_error);
  out->write("after ");
  client.read_until("after ");
  out->finish();
  EXPECT_NE(client.read_until("0\r\n\r\n"), "");
  EXPECT_TRUE(client.closed_by_server());
  client.close();
  EXPECT_TRUE(drained.wait());
}

TEST_F(http_server, an_idle_server_drains_at_once) {
  start();
  event<bool> drained;
  running->drain([&] { drained.set(true); });
  EXPECT_TRUE(drained.wait());
}

TEST_F(http_server, its_end_closes_streams_and_late_answers_go_nowhere) {
  add_stream_route();
  start();
  raw_client client(port());
  client.send(get_stream);
  auto to = asked.wait();
  event<bool> gone;
  to->on_close([&] { gone.set(true); });
  auto out = to->stream({});
  out->write("x");
  client.read_until("x");
  running.reset();
  EXPECT_TRUE(gone.wait());
  EXPECT_FALSE(out->write("y"));
  out->finish();
  to->send({});
  out.reset();
  to.reset();
  EXPECT_TRUE(client.closed_by_server());
}

} // namespace
} // namespace omni::http
