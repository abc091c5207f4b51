#include "app/openai/endpoints.hpp"
#include "app/openai/errors.hpp"

#include <algorithm>
#include <charconv>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

// The operator's view of replicas (docs/http.md, "Replicas").

namespace omni::openai {
namespace {

/// A whole non-negative number, or nothing.
std::optional<std::int32_t> number_in(std::string_view text) {
  std::int32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

const char* name_of(replica_state state) {
  switch (state) {
  case replica_state::starting:
    return "starting";
  case replica_state::serving:
    return "serving";
  case replica_state::draining:
    return "draining";
  case replica_state::lost:
    return "lost";
  }
  return "unknown";
}

std::string hexadecimal(std::uint64_t value) {
  char text[17];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value, 16);
  const std::string digits(text, end);
  return std::string(16 - digits.size(), '0') + digits;
}

json line_of(const replica_status& one, const pipeline_facts& pipeline) {
  json line;
  line["stage"] = one.stage.value;
  line["stage_name"] = pipeline.stage_names[std::size_t(one.stage.value)];
  line["replica"] = one.replica.value;
  line["state"] = name_of(one.state);
  line["address"] = one.address.empty() ? json() : json(one.address);
  line["since"] = unix_seconds() - std::int64_t(one.up_s);
  line["running"] = one.running;
  line["waiting"] = one.waiting;
  line["fingerprint"] = hexadecimal(one.fingerprint);
  return line;
}

void send_json(const responder_ptr& to, int status, const json& page) {
  to->send({.status = status, .body = dump(page)});
}

json named(stage_id stage, replica_id replica, const char* state) {
  return {{"stage", stage.value}, {"replica", replica.value}, {"state", state}};
}

void wrong_path(const responder_ptr& to, const char* expected) {
  to->send(error_response({errc::not_found, std::string("There is no such path: expected ") + expected + ".", {}}));
}

/// `stage` of "/v1/omni/stages/STAGE/replicas".
std::optional<stage_id> stage_of(std::string_view rest) {
  constexpr std::string_view end = "/replicas";
  if (!rest.ends_with(end)) return std::nullopt;
  rest.remove_suffix(end.size());
  const auto stage = number_in(rest);
  return stage ? std::optional(stage_id{*stage}) : std::nullopt;
}

/// The value of `?replica_id=N`: absent, a number, or wrong.
struct asked_replica {
  bool good = true;
  std::optional<replica_id> id;
};
asked_replica replica_of(std::string_view query) {
  constexpr std::string_view key = "replica_id=";
  if (query.empty()) return {};
  const auto value = query.starts_with(key) ? number_in(query.substr(key.size())) : std::nullopt;
  return value ? asked_replica{true, replica_id{*value}} : asked_replica{false, {}};
}

void wrong_query(const responder_ptr& to) {
  to->send(
      error_response({errc::invalid_request, "The query may only be replica_id=N, with N from 0 on.", "replica_id"}));
}

/// `remote`: one of another process that was meant perhaps.
failure no_local_replica(stage_id stage, std::optional<replica_id> remote) {
  const auto where = std::to_string(stage.value);
  const auto hint = remote ? "end one of another process with POST /v1/omni/replicas/" + where + "/" +
                                 std::to_string(remote->value) + "/drain."
                           : std::string("see GET /v1/omni/replicas.");
  return {errc::not_found, "This process has no such replica that serves stage " + where + ": " + hint, {}};
}

} // namespace

void list_replicas(context& server, const responder_ptr& to) {
  server.running.replicas([pipeline = server.pipeline, to](const std::vector<replica_status>& replicas) {
    json page;
    page["object"] = "list";
    page["data"] = json::array();
    for (const replica_status& one : replicas) page["data"].push_back(line_of(one, *pipeline));
    send_json(to, 200, page);
  });
}

void drain_replica(context& server, const http::request& asked, const responder_ptr& to) {
  const std::string_view rest = asked.rest;
  const auto first = rest.find('/');
  const auto second = first == std::string_view::npos ? first : rest.find('/', first + 1);
  if (second == std::string_view::npos || rest.substr(second) != "/drain")
    return wrong_path(to, "/v1/omni/replicas/STAGE/REPLICA/drain");
  const auto stage = number_in(rest.substr(0, first));
  const auto replica = number_in(rest.substr(first + 1, second - first - 1));
  if (!stage || !replica) return wrong_path(to, "/v1/omni/replicas/STAGE/REPLICA/drain");
  server.running.remove_replica({*stage}, {*replica}, [=](const expected<void>& done) {
    if (!done) return to->send(error_response(done.error()));
    send_json(to, 202, named({*stage}, {*replica}, "draining"));
  });
}

void add_local_replica(context& server, const http::request& asked, const responder_ptr& to) {
  const auto stage = stage_of(asked.rest);
  if (!stage) return wrong_path(to, "/v1/omni/stages/STAGE/replicas");
  const auto wanted = replica_of(asked.query);
  if (!wanted.good) return wrong_query(to);
  server.running.add_replica(*stage, wanted.id, [=](const expected<replica_id>& done) {
    if (!done) return to->send(error_response(done.error()));
    send_json(to, 201, named(*stage, *done, "serving"));
  });
}

void remove_local_replica(context& server, const http::request& asked, const responder_ptr& to) {
  const auto stage = stage_of(asked.rest);
  if (!stage) return wrong_path(to, "/v1/omni/stages/STAGE/replicas");
  const auto wanted = replica_of(asked.query);
  if (!wanted.good) return wrong_query(to);
  server.running.replicas([=, &server](const std::vector<replica_status>& replicas) {
    std::optional<replica_id> found; // the latest of this process, unless one was named
    std::optional<replica_id> remote;
    for (const replica_status& one : replicas)
      if (one.stage == *stage && one.state == replica_state::serving && (!wanted.id || *wanted.id == one.replica))
        (one.address.empty() ? found : remote) = one.replica;
    if (!found) return to->send(error_response(no_local_replica(*stage, remote)));
    server.running.remove_replica(*stage, *found, [=](const expected<void>& done) {
      if (!done) return to->send(error_response(done.error()));
      send_json(to, 202, named(*stage, *found, "draining"));
    });
  });
}

} // namespace omni::openai
