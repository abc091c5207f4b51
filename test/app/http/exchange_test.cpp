#include "app/http/exchange.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <string>
#include <utility>

namespace omni::http {
namespace {

/// Notes what the exchange asks of its connection.
class noting_channel final : public exchange::channel {
public:
  explicit noting_channel(std::string& notes) : notes_(notes) {}
  void send(response whole) override { notes_ += "send " + std::to_string(whole.status) + ";"; }
  void begin_stream(response) override { notes_ += "begin;"; }
  void flush() override { notes_ += "flush;"; }
  void cut() override { notes_ += "cut;"; }

private:
  std::string& notes_;
};

struct exchange_test : ::testing::Test {
  std::string notes;
  std::shared_ptr<exchange> made =
      std::make_shared<exchange>(std::make_unique<noting_channel>(notes), 10, response{.status = 500});
  std::shared_ptr<responder> handle = made->open_handle();
};

TEST_F(exchange_test, is_freed_once_nobody_holds_it) {
  const std::weak_ptr<exchange> left = made;
  handle->stream({});
  made->complete();
  made.reset();
  handle.reset();
  EXPECT_TRUE(left.expired());
}

TEST_F(exchange_test, is_kept_by_a_writer_alone) {
  auto out = handle->stream({});
  handle.reset();
  EXPECT_EQ(notes, "begin;");
  out.reset();
  EXPECT_EQ(notes, "begin;cut;");
}

TEST_F(exchange_test, pieces_written_while_the_connection_is_busy_are_joined_and_ask_once) {
  const auto out = handle->stream({});
  std::string taken;
  EXPECT_EQ(made->take(taken), exchange::progress::idle);
  out->write("a");
  out->write("b");
  EXPECT_EQ(notes, "begin;flush;");
  EXPECT_EQ(made->take(taken), exchange::progress::more);
  EXPECT_EQ(taken, "ab");
  out->write("c");
  EXPECT_EQ(notes, "begin;flush;");
  out->finish();
  EXPECT_EQ(made->take(taken), exchange::progress::more);
  EXPECT_EQ(made->take(taken), exchange::progress::ended);
}

TEST_F(exchange_test, more_than_the_cap_cuts_and_nothing_is_written_after) {
  const auto out = handle->stream({});
  EXPECT_TRUE(out->write("0123456789"));
  EXPECT_FALSE(out->write("x"));
  EXPECT_FALSE(out->write("y"));
  EXPECT_EQ(notes, "begin;cut;");
}

TEST_F(exchange_test, a_handle_dropped_without_an_answer_sends_the_stand_in) {
  handle.reset();
  EXPECT_EQ(notes, "send 500;");
}

} // namespace
} // namespace omni::http
