#include "app/openai/endpoints.hpp"
#include "app/openai/errors.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace omni::openai {
namespace {

http::response status_page(int status, const char* word, const std::string& why = {}) {
  json page;
  page["status"] = word;
  if (!why.empty()) page["reason"] = why;
  return {.status = status, .body = dump(page)};
}

bool serves(const std::vector<replica_status>& replicas, std::size_t stage) {
  return std::any_of(replicas.begin(), replicas.end(), [stage](const replica_status& each) {
    return std::size_t(each.stage.value) == stage && each.state == replica_state::serving;
  });
}

bool has_only_lost(const std::vector<replica_status>& replicas, std::size_t stage) {
  bool any = false;
  for (const replica_status& each : replicas) {
    if (std::size_t(each.stage.value) != stage) continue;
    if (each.state != replica_state::lost) return false;
    any = true;
  }
  return any;
}

std::string stage_text(const pipeline_facts& pipeline, std::size_t stage) {
  return "Stage " + std::to_string(stage) + " (" + pipeline.stage_names[stage] + ")";
}

} // namespace

void health(context& server, responder_ptr to) {
  const bool may_come_back = server.running.config().network.has_value();
  server.running.replicas([pipeline = server.pipeline, may_come_back,
                           to = std::move(to)](const std::vector<replica_status>& replicas) {
    for (std::size_t stage = 0; !may_come_back && stage < pipeline->stage_names.size(); ++stage)
      if (has_only_lost(replicas, stage))
        return to->send(status_page(503, "unhealthy", stage_text(*pipeline, stage) + " has lost all its replicas."));
    to->send(status_page(200, "healthy"));
  });
}

void ready(context& server, responder_ptr to) {
  if (server.draining) return to->send(status_page(503, "draining", "The server is shutting down."));
  server.running.replicas([pipeline = server.pipeline,
                           to = std::move(to)](const std::vector<replica_status>& replicas) {
    for (std::size_t stage = 0; stage < pipeline->stage_names.size(); ++stage)
      if (!serves(replicas, stage))
        return to->send(status_page(503, "not ready", stage_text(*pipeline, stage) + " has no replica that serves."));
    to->send(status_page(200, "ready"));
  });
}

void version(context& server, const responder_ptr& to) {
  json page;
  page["version"] = server.version;
  to->send({.body = dump(page)});
}

void metrics(context& server, responder_ptr to) {
  server.running.metrics_text([to = std::move(to)](std::string text) {
    to->send({.content_type = "text/plain; version=1.0.0; charset=utf-8", .body = std::move(text)});
  });
}

} // namespace omni::openai
