#include "app/openai/endpoints.hpp"
#include "app/openai/errors.hpp"

#include <nlohmann/json.hpp>

namespace omni::openai {
namespace {

http::response unauthorized(std::string_view sentence) {
  json error;
  error["error"] = {
      {"message", sentence}, {"type", "invalid_request_error"}, {"param", nullptr}, {"code", "invalid_api_key"}};
  return {.status = 401, .body = dump(error), .headers = {{"WWW-Authenticate", "Bearer"}}};
}

} // namespace

bool same_secret(std::string_view a, std::string_view b) {
  if (a.size() != b.size()) return false;
  unsigned difference = 0;
  for (std::size_t i = 0; i < a.size(); ++i)
    difference |= static_cast<unsigned char>(a[i]) ^ static_cast<unsigned char>(b[i]);
  return difference == 0;
}

std::function<std::optional<http::response>(const http::request&)> key_guard(std::vector<std::string> keys) {
  if (keys.empty()) return {};
  return [keys = std::move(keys)](const http::request& asked) -> std::optional<http::response> {
    if (asked.path != "/v1" && !asked.path.starts_with("/v1/")) return {};
    std::string_view given = asked.value("Authorization");
    constexpr std::string_view scheme = "Bearer ";
    if (given.size() < scheme.size() || !http::same_name(given.substr(0, scheme.size()), scheme))
      return unauthorized("This server wants an API key: send the header Authorization: Bearer KEY.");
    given.remove_prefix(scheme.size());
    bool known = false;
    for (const std::string& key : keys) known |= same_secret(key, given);
    if (known) return {};
    return unauthorized("The API key is not one of this server's.");
  };
}

} // namespace omni::openai
