#include "app/http/router.hpp"

#include <gtest/gtest.h>

namespace omni::http {
namespace {

router sample() {
  router routes;
  for (const auto& [method, pattern] :
       {std::pair{"GET", "/v1/models"}, {"GET", "/v1/models/*"}, {"POST", "/v1/voices/*"}, {"DELETE", "/v1/voices/*"}})
    routes.add(method, pattern, [](request, const std::shared_ptr<responder>&) {});
  return routes;
}

TEST(router, finds_a_whole_path) { EXPECT_NE(sample().find("GET", "/v1/models").run, nullptr); }

TEST(router, a_star_matches_any_rest_with_slashes) {
  const router routes = sample();
  const auto found = routes.find("GET", "/v1/models/org/name");
  EXPECT_NE(found.run, nullptr);
  EXPECT_EQ(found.rest, "org/name");
}

TEST(router, a_star_needs_a_rest) { EXPECT_TRUE(sample().find("GET", "/v1/models/").allow.empty()); }

TEST(router, head_is_served_by_get) { EXPECT_NE(sample().find("HEAD", "/v1/models").run, nullptr); }

TEST(router, a_wrong_method_lists_those_that_exist) {
  const router routes = sample();
  EXPECT_EQ(routes.find("PUT", "/v1/voices/x").run, nullptr);
  EXPECT_EQ(routes.find("PUT", "/v1/voices/x").allow, "POST, DELETE, OPTIONS");
  EXPECT_EQ(routes.find("POST", "/v1/models").allow, "GET, HEAD, OPTIONS");
}

TEST(router, an_unknown_path_has_no_methods) { EXPECT_TRUE(sample().find("GET", "/v2").allow.empty()); }

} // namespace
} // namespace omni::http
