#include "app/openai/endpoints.hpp"
#include "app/openai/errors.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace omni::openai {
namespace {

json card(const context& server, const std::string& name) {
  json out;
  out["id"] = name;
  out["object"] = "model";
  out["created"] = server.started_s;
  out["owned_by"] = "omni-serve";
  out["root"] = server.served_names.front();
  out["parent"] = nullptr;
  out["max_model_len"] = server.pipeline->text_stage ? json(server.pipeline->max_model_len) : json();
  return out;
}

} // namespace

void list_models(context& server, const responder_ptr& to) {
  json out;
  out["object"] = "list";
  out["data"] = json::array();
  for (const std::string& name : server.served_names) out["data"].push_back(card(server, name));
  to->send({.body = dump(out)});
}

void show_model(context& server, const http::request& asked, const responder_ptr& to) {
  const auto& names = server.served_names;
  if (asked.rest == "default") return to->send({.body = dump(card(server, names.front()))});
  if (std::find(names.begin(), names.end(), asked.rest) != names.end())
    return to->send({.body = dump(card(server, asked.rest))});
  to->send(error_response(
      {errc::model_not_found, "The model '" + asked.rest + "' does not exist here: see /v1/models.", "model"}));
}

} // namespace omni::openai
