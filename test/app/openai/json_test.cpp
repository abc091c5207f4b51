#include "app/media/base64.hpp"
#include "app/openai/errors.hpp"
#include "app/openai/json.hpp"
#include "test/app/support/sample_pipeline.hpp"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace omni::openai {
namespace {

TEST(json, what_is_not_an_object_is_refused) {
  for (const char* body : {"", "[]", "5", "\"x\"", "{", "{\"a\":}", "nul", "{} x", "{\"a\": 1e999}",
                           "{\"a\": \"\xff\"}", "{\"a\": \"\\ud800\"}"}) {
    const auto got = parse_object(body);
    ASSERT_FALSE(got) << body;
    EXPECT_EQ(got.error().code, errc::invalid_request);
    EXPECT_TRUE(got.error().message.ends_with('.')) << got.error().message;
  }
}

TEST(json, deep_and_wide_bodies_are_refused_before_they_are_built) {
  EXPECT_TRUE(parse_object("{\"a\":" + std::string(60, '[') + std::string(60, ']') + "}"));
  EXPECT_FALSE(parse_object("{\"a\":" + std::string(100'000, '[')));
  json members;
  for (int i = 0; i < 1100; ++i) members[std::to_string(i)] = 0;
  json wide;
  wide["a"] = members;
  EXPECT_FALSE(parse_object(dump(wide)));
  EXPECT_TRUE(parse_object(R"({"a": "{[{[{[\":::"})"));
}

TEST(json, shown_values_are_short_and_whole_characters) {
  EXPECT_EQ(shown(json(5)), "5");
  EXPECT_EQ(shown(json::object()), "an object");
  std::string long_text = "ab";
  for (int i = 0; i < 40; ++i) long_text.append("é");
  const std::string text = shown(json(long_text));
  EXPECT_LE(text.size(), 63U);
  EXPECT_TRUE(text.ends_with("é...")) << text;
}

TEST(base64, reads_back_at_every_length) {
  std::string bytes;
  for (int i = 0; i < 70; ++i) {
    EXPECT_EQ(test::from_base64(media::to_base64(bytes)), bytes);
    bytes.push_back(char(i * 37));
  }
  EXPECT_EQ(media::to_base64("Man"), "TWFu");
  EXPECT_EQ(media::to_base64("Ma"), "TWE=");
  EXPECT_EQ(media::to_base64("M"), "TQ==");
}

TEST(errors, every_code_has_a_status_and_an_object) {
  const auto shown_as = [](errc code) {
    const auto reply = error_response({code, "A sentence.", "temperature"});
    return std::to_string(reply.status) + " " + reply.body;
  };
  EXPECT_EQ(
      shown_as(errc::invalid_request),
      R"(400 {"error":{"message":"A sentence.","type":"invalid_request_error","param":"temperature","code":null}})");
  EXPECT_EQ(
      shown_as(errc::context_too_long),
      R"(400 {"error":{"message":"A sentence.","type":"invalid_request_error","param":"temperature","code":"context_length_exceeded"}})");
  EXPECT_EQ(
      shown_as(errc::model_not_found),
      R"(404 {"error":{"message":"A sentence.","type":"invalid_request_error","param":"temperature","code":"model_not_found"}})");
  EXPECT_EQ(
      shown_as(errc::overloaded),
      R"(429 {"error":{"message":"A sentence.","type":"rate_limit_error","param":"temperature","code":"rate_limit_exceeded"}})");
  EXPECT_EQ(shown_as(errc::internal),
            R"(500 {"error":{"message":"A sentence.","type":"server_error","param":"temperature","code":"internal"}})");
  for (const errc code : {errc::no_replica, errc::replica_lost, errc::shutting_down})
    EXPECT_EQ(error_response({code, "", ""}).status, 503);
}

TEST(errors, retry_after_comes_where_trying_again_can_help) {
  EXPECT_EQ(error_response({errc::overloaded, "", ""}).headers.size(), 1U);
  EXPECT_EQ(error_response({errc::no_replica, "", ""}).headers.front().name, "Retry-After");
  EXPECT_TRUE(error_response({errc::invalid_request, "", ""}).headers.empty());
}

} // namespace
} // namespace omni::openai
