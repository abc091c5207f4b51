#include "app/http/cors.hpp"
#include "app/http/wire.hpp"

#include <gtest/gtest.h>

namespace omni::http {
namespace {

TEST(wire, a_target_is_split_and_decoded) {
  std::string path;
  std::string query;
  EXPECT_TRUE(split_target("/a%20b/c?x=%20y", path, query));
  EXPECT_EQ(path, "/a b/c");
  EXPECT_EQ(query, "x=%20y");
  EXPECT_TRUE(split_target("http://host:80/a", path, query));
  EXPECT_EQ(path, "/a");
  EXPECT_EQ(query, "");
  EXPECT_TRUE(split_target("http://host", path, query));
  EXPECT_EQ(path, "/");
}

TEST(wire, bad_targets_are_refused) {
  std::string path;
  std::string query;
  for (const char* target : {"", "a", "host:80", "/%", "/%2", "/%zz", "/a%00b", "/%0d%0a"})
    EXPECT_FALSE(split_target(target, path, query)) << target;
}

TEST(wire, a_header_with_a_line_break_is_not_sent) {
  const std::string head = write_head(200, {{"X-Good", "1"}, {"X-Bad", "1\r\nEvil: 2"}});
  EXPECT_NE(head.find("X-Good: 1\r\n"), std::string::npos);
  EXPECT_EQ(head.find("Evil"), std::string::npos);
}

TEST(wire, pieces_become_chunks_and_an_empty_one_does_not_end_the_body) {
  std::string out;
  add_chunk("hello world, this is", true, out);
  EXPECT_EQ(out, "14\r\nhello world, this is\r\n");
  out.clear();
  add_chunk("", true, out);
  EXPECT_EQ(out, "");
  add_chunk("plain", false, out);
  EXPECT_EQ(out, "plain");
}

TEST(cors, only_allowed_origins_are_told_so) {
  const auto sent = [](const std::vector<std::string>& allowed, const std::string& origin) {
    std::vector<header> headers;
    add_cors_headers(allowed, origin, headers);
    for (const header& each : headers)
      if (each.name == "Access-Control-Allow-Origin") return each.value;
    return std::string();
  };
  EXPECT_EQ(sent({"*"}, "http://a"), "*");
  EXPECT_EQ(sent({"http://a"}, "http://a"), "http://a");
  EXPECT_EQ(sent({"http://a"}, "http://b"), "");
  EXPECT_EQ(sent({}, "http://a"), "");
  EXPECT_EQ(sent({"*"}, ""), "");
}

} // namespace
} // namespace omni::http
