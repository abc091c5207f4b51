#include "app/openai/errors.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace omni::openai {
namespace {

/// OpenAI's machine-readable code where it has one for the case, else our own name.
std::string_view code_of(errc code) {
  switch (code) {
  case errc::invalid_request:
    return {};
  case errc::context_too_long:
    return "context_length_exceeded";
  case errc::overloaded:
    return "rate_limit_exceeded";
  default:
    return to_string(code);
  }
}

std::string_view type_of(int status) {
  if (status == 429) return "rate_limit_error";
  return status >= 500 ? "server_error" : "invalid_request_error";
}

json object_of(int status, std::string_view message, std::string_view param, std::string_view code) {
  json error;
  error["message"] = message;
  error["type"] = type_of(status);
  error["param"] = param.empty() ? json() : json(param);
  error["code"] = code.empty() ? json() : json(code);
  json whole;
  whole["error"] = std::move(error);
  return whole;
}

} // namespace

int status_of(errc code) {
  switch (code) {
  case errc::invalid_request:
  case errc::context_too_long:
    return 400;
  case errc::model_not_found:
  case errc::not_found:
    return 404;
  case errc::replica_conflict:
    return 409;
  case errc::overloaded:
    return 429;
  case errc::aborted:
    return 499;
  case errc::no_replica:
  case errc::replica_lost:
  case errc::shutting_down:
    return 503;
  case errc::load_failed:
  case errc::internal:
    return 500;
  }
  return 500;
}

json error_object(const failure& problem) {
  return object_of(status_of(problem.code), problem.message, problem.param, code_of(problem.code));
}

http::response error_response(const failure& problem) {
  http::response reply{.status = status_of(problem.code), .body = dump(error_object(problem))};
  if (reply.status == 429 || reply.status == 503) reply.headers.push_back({"Retry-After", "1"});
  return reply;
}

http::response error_page(int status, std::string_view sentence) {
  const std::string_view code = status == 404 ? "not_found" : status == 405 ? "method_not_allowed" : "";
  return {.status = status, .body = dump(object_of(status, sentence, {}, code))};
}

} // namespace omni::openai
