#include "app/openai/endpoints.hpp"
#include "app/openai/errors.hpp"

#include <nlohmann/json.hpp>
#include <utility>

namespace omni::openai {
namespace {

constexpr std::size_t max_request_id_bytes = 256;

/// Adds X-Request-Id to whatever answer comes.
class named_responder final : public http::responder {
public:
  named_responder(responder_ptr to, std::string id) : to_(std::move(to)), id_(std::move(id)) {}
  void send(http::response what) override {
    what.headers.push_back({"X-Request-Id", id_});
    to_->send(std::move(what));
  }
  std::shared_ptr<http::stream_writer> stream(http::response head) override {
    head.headers.push_back({"X-Request-Id", id_});
    return to_->stream(std::move(head));
  }
  void on_close(std::function<void()> gone) override { to_->on_close(std::move(gone)); }

private:
  responder_ptr to_;
  std::string id_;
};

responder_ptr named(context& server, const http::request& asked, responder_ptr to) {
  std::string id(asked.value("X-Request-Id"));
  if (id.empty() || id.size() > max_request_id_bytes) id = server.ids.hex(32);
  return std::make_shared<named_responder>(std::move(to), std::move(id));
}

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
    run(server, asked, named(server, asked, std::move(to)));
  };
}

http::handler with_body(context& server,
                        std::function<void(context&, const http::request&, const json&, responder_ptr)> run) {
  return [&server, run = std::move(run)](const http::request& asked, responder_ptr to) {
    to = named(server, asked, std::move(to));
    if (!says_json(asked))
      return to->send(error_page(415, "The body must be JSON: send it with Content-Type: application/json."));
    const auto body = parse_object(asked.body);
    if (!body) return to->send(error_response(body.error()));
    run(server, asked, *body, std::move(to));
  };
}

} // namespace

void add_routes(context& server, http::router& routes) {
  using http::request;
  routes.add("POST", "/v1/chat/completions", with_body(server, chat_completions));
  routes.add("POST", "/v1/audio/speech", with_body(server, audio_speech));
  routes.add("POST", "/tokenize",
             with_body(server, [](context& s, const request&, const json& body, const responder_ptr& to) {
               tokenize(s, body, to);
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
