#pragma once

#include "app/http/responder.hpp"

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace omni::http {

/// Answers one kind of request. Runs on the server's worker thread, one call at a time, so it may parse and tokenise,
/// but must not wait for an answer of the engine.
using handler = std::function<void(request, std::shared_ptr<responder>)>;

/// Which handler serves which method and path. Filled before the server starts, read-only after.
class router {
public:
  /// `pattern` is a whole path, or ends in '*' and then matches any non-empty rest.
  void add(std::string method, std::string pattern, handler run);

  struct match {
    const handler* run = nullptr; // null: no such path (`allow` empty) or no such method there
    std::string_view pattern;     // of the route found; part of the router
    std::string_view rest;        // what '*' matched; part of the path given
    std::string allow;            // the methods of this path, for 405 and OPTIONS
  };
  /// HEAD finds the handler of GET. A whole path goes before a pattern.
  [[nodiscard]] match find(std::string_view method, std::string_view path) const;

private:
  struct entry {
    std::string method;
    std::string pattern;
    handler run;
  };
  std::vector<entry> entries_;
};

} // namespace omni::http
