#include "app/openai/endpoints.hpp"

#include <gtest/gtest.h>

namespace omni::openai {
namespace {

int status_of_request(const std::string& path, const std::string& authorization) {
  const auto guard = key_guard({"first", "second"});
  http::request asked;
  asked.path = path;
  if (!authorization.empty()) asked.headers.push_back({"authorization", authorization});
  const auto refused = guard(asked);
  return refused ? refused->status : 200;
}

TEST(key_guard, without_keys_there_is_none) { EXPECT_FALSE(key_guard({})); }

TEST(key_guard, any_of_the_keys_opens_v1) {
  EXPECT_EQ(status_of_request("/v1/models", "Bearer first"), 200);
  EXPECT_EQ(status_of_request("/v1/models", "bearer second"), 200);
}

TEST(key_guard, everything_else_does_not) {
  for (const char* given :
       {"", "first", "Bearer", "Bearer ", "Bearer firs", "Bearer first ", "Bearer firsu", "Basic first"})
    EXPECT_EQ(status_of_request("/v1/models", given), 401) << given;
}

TEST(key_guard, what_is_not_below_v1_is_open) {
  for (const char* path : {"/health", "/ready", "/version", "/metrics", "/tokenize", "/v10"})
    EXPECT_EQ(status_of_request(path, ""), 200) << path;
}

TEST(same_secret, compares_whole_texts) {
  EXPECT_TRUE(same_secret("", ""));
  EXPECT_TRUE(same_secret("abc", "abc"));
  EXPECT_FALSE(same_secret("abc", "abd"));
  EXPECT_FALSE(same_secret("abc", "ab"));
}

} // namespace
} // namespace omni::openai
