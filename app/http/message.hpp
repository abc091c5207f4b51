#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace omni::http {

struct header {
  std::string name;
  std::string value;
};

/// ASCII case-insensitive equality, as header names are compared.
bool same_name(std::string_view a, std::string_view b);

/// One request, whole. Owned by whoever handles it.
struct request {
  std::string method; // "GET"
  std::string path;   // percent-decoded, without the query
  std::string query;  // after '?', as it came
  std::string rest;   // what the '*' of the route's pattern matched
  std::vector<header> headers;
  std::string body;

  /// The first value of a header; empty if there is none.
  [[nodiscard]] std::string_view value(std::string_view name) const;
};

/// A status line, headers and a body. For a stream the body is what comes first.
struct response {
  int status = 200;
  std::string content_type = "application/json";
  std::string body{};
  std::vector<header>
      headers{}; // besides Content-Type, Content-Length, Connection, Date and CORS, which the server adds
};

/// The standard phrase of a status code; "Unknown" for one we never send.
std::string_view reason_phrase(int status);

/// %XX decoded; false when an escape is malformed or decodes to a control character.
bool percent_decode(std::string_view in, std::string& out);

} // namespace omni::http
