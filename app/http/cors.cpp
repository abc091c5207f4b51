#include "app/http/cors.hpp"

#include <algorithm>

namespace omni::http {
namespace {

bool contains(const std::vector<std::string>& list, const std::string& what) {
  return std::find(list.begin(), list.end(), what) != list.end();
}

} // namespace

void add_cors_headers(const std::vector<std::string>& allowed, const std::string& origin, std::vector<header>& to) {
  if (origin.empty()) return;
  if (contains(allowed, "*")) {
    to.push_back({"Access-Control-Allow-Origin", "*"});
  } else if (!allowed.empty()) {
    to.push_back({"Vary", "Origin"}); // caches must not show one origin's answer to another
    if (!contains(allowed, origin)) return;
    to.push_back({"Access-Control-Allow-Origin", origin});
  } else {
    return;
  }
  to.push_back({"Access-Control-Expose-Headers", "X-Request-Id, Retry-After"});
}

void add_preflight_headers(const std::vector<std::string>& allowed, const request& asked, const std::string& methods,
                           std::vector<header>& to) {
  const std::string origin(asked.value("Origin"));
  if (origin.empty() || asked.value("Access-Control-Request-Method").empty()) return;
  if (!contains(allowed, "*") && !contains(allowed, origin)) return;
  to.push_back({"Access-Control-Allow-Methods", methods});
  if (const auto wanted = asked.value("Access-Control-Request-Headers"); !wanted.empty())
    to.push_back({"Access-Control-Allow-Headers", std::string(wanted)});
  to.push_back({"Access-Control-Max-Age", "600"});
}

} // namespace omni::http
