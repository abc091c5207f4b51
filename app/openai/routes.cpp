#include "app/openai/endpoints.hpp"
#include "app/openai/errors.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace omni::openai {
namespace {

constexpr std::size_t max_request_id_bytes = 256;

/// Whether the body is declared as JSON, or not declared at all. A browser always declares: text/plain without a
/// preflight is how a strange page would reach a server on the loopback.
bool says_json(const http::request& asked) {
  std::string_view type = asked.value("Content-Type");
  type = type.substr(0, type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return type.empty() || http::same_name(type, "application/json");
}

http::handler plain(context& server, std::function<void(context&, const http::request&, responder_ptr)> run) {
  return [&server, run = std::move(run)](const http::request& asked, responder_ptr to) {
    run(server, asked, std::move(to));
  };
}

http::handler with_body(context& server, std::function<void(context&, const http::request&, json, responder_ptr)> run) {
  return [&server, run = std::move(run)](const http::request& asked, responder_ptr to) {
    if (const auto coding = asked.value("Content-Encoding"); !coding.empty() && !http::same_name(coding, "identity"))
      return to->send(error_page(415, "Bodies are taken as they are: send this one without Content-Encoding."));
    if (!says_json(asked))
      return to->send(error_page(415, "The body must be JSON: send it with Content-Type: application/json."));
    auto body = parse_object(asked.body);
    if (!body) return to->send(error_response(body.error()));
    run(server, asked, std::move(*body), std::move(to));
  };
}

} // namespace

std::function<std::string(const http::request&)> request_namer() {
  return [ids = std::make_shared<id_source>()](const http::request& asked) {
    const std::string_view own = asked.value("X-Request-Id");
    return own.empty() || own.size() > max_request_id_bytes ? ids->hex(32) : std::string(own);
  };
}

void add_routes(context& server, http::router& routes) {
  using http::request;
  routes.add("POST", "/v1/chat/completions", with_body(server, chat_completions));
  routes.add("POST", "/v1/audio/speech", with_body(server, audio_speech));
  routes.add("POST", "/tokenize", with_body(server, [](context& s, const request&, json body, responder_ptr to) {
               tokenize(s, std::move(body), std::move(to));
             }));
  routes.add("POST", "/detokenize",
             with_body(server, [](context& s, const request&, const json& body, const responder_ptr& to) {
               detokenize(s, body, to);
             }));
  routes.add("GET", "/v1/audio/voices",
             plain(server, [](context& s, const request&, const responder_ptr& to) { audio_voices(s, to); }));
  routes.add("GET", "/v1/models",
             plain(server, [](context& s, const request&, const responder_ptr& to) { list_models(s, to); }));
  routes.add("GET", "/v1/models/*", plain(server, show_model));
  routes.add("GET", "/v1/omni/replicas",
             plain(server, [](context& s, const request&, const responder_ptr& to) { list_replicas(s, to); }));
  routes.add("POST", "/v1/omni/replicas/*", plain(server, drain_replica));
  routes.add("POST", "/v1/omni/stages/*", plain(server, add_local_replica));
  routes.add("DELETE", "/v1/omni/stages/*", plain(server, remove_local_replica));
  routes.add("GET", "/health",
             plain(server, [](context& s, const request&, responder_ptr to) { health(s, std::move(to)); }));
  routes.add("GET", "/ready",
             plain(server, [](context& s, const request&, responder_ptr to) { ready(s, std::move(to)); }));
  routes.add("GET", "/version",
             plain(server, [](context& s, const request&, const responder_ptr& to) { version(s, to); }));
  routes.add("GET", "/metrics",
             plain(server, [](context& s, const request&, responder_ptr to) { metrics(s, std::move(to)); }));
}

} // namespace omni::openai
