#include "app/http/router.hpp"

#include <utility>

namespace omni::http {

void router::add(std::string method, std::string pattern, handler run) {
  entries_.push_back({std::move(method), std::move(pattern), std::move(run)});
}

router::match router::find(std::string_view method, std::string_view path) const {
  if (method == "HEAD") method = "GET";
  match found;
  for (const bool wildcard : {false, true}) {
    for (const entry& each : entries_) {
      std::string_view pattern = each.pattern;
      if (pattern.ends_with('*') != wildcard) continue;
      if (wildcard) {
        pattern.remove_suffix(1);
        if (!path.starts_with(pattern) || path.size() == pattern.size()) continue;
      } else if (pattern != path) {
        continue;
      }
      found.allow += (found.allow.empty() ? "" : ", ") + each.method + (each.method == "GET" ? ", HEAD" : "");
      if (each.method != method || found.run != nullptr) continue;
      found.run = &each.run;
      found.pattern = each.pattern;
      if (wildcard) found.rest = path.substr(pattern.size());
    }
    if (!found.allow.empty()) break;
  }
  if (!found.allow.empty()) found.allow += ", OPTIONS";
  return found;
}

} // namespace omni::http
