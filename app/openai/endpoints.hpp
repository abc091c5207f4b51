#pragma once

#include "app/http/router.hpp"
#include "app/openai/context.hpp"
#include "app/openai/json.hpp"

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omni::openai {

using responder_ptr = std::shared_ptr<http::responder>;

// One function per endpoint, each in the file of its name. All run on the server's worker thread.

void chat_completions(context& server, const http::request& asked, json body, responder_ptr to);
void audio_speech(context& server, const http::request& asked, const json& body, responder_ptr to);
void audio_voices(context& server, const responder_ptr& to);
void tokenize(context& server, json body, responder_ptr to);
void detokenize(context& server, const json& body, const responder_ptr& to);
void list_models(context& server, const responder_ptr& to);
void show_model(context& server, const http::request& asked, const responder_ptr& to);
void list_replicas(context& server, const responder_ptr& to);
void drain_replica(context& server, const http::request& asked, const responder_ptr& to);
void add_local_replica(context& server, const http::request& asked, const responder_ptr& to);
void remove_local_replica(context& server, const http::request& asked, const responder_ptr& to);
void health(context& server, responder_ptr to);
void ready(context& server, responder_ptr to);
void version(context& server, const responder_ptr& to);
void metrics(context& server, responder_ptr to);

/// All of them with their paths. `server` outlives the routes.
void add_routes(context& server, http::router& routes);

/// What X-Request-Id an answer carries: the client's own, if it sent one of at most 256 bytes.
std::function<std::string(const http::request&)> request_namer();

/// The check of API keys: paths under /v1 need "Authorization: Bearer KEY" with one of `keys`. Nothing if there are no
/// keys.
std::function<std::optional<http::response>(const http::request&)> key_guard(std::vector<std::string> keys);

/// Equal in a time that does not depend on where they differ.
bool same_secret(std::string_view a, std::string_view b);

} // namespace omni::openai
