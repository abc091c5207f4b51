#include "kernels/text/chat_template.hpp"

#include "kernels/core/error.hpp"
#include "kernels/text/jinja_interpreter.hpp"
#include "kernels/text/jinja_parser.hpp"

#include <algorithm>
#include <array>

namespace omni::text {
namespace {

using json = nlohmann::ordered_json;

constexpr std::size_t max_template_bytes = 1 << 20;

/// Roles that templates may put inside control tokens. Any other word there is the caller's text.
bool is_usual_role(const json& role) {
  static constexpr std::array<std::string_view, 11> usual = {"system",       "user",     "assistant", "tool",
                                                             "developer",    "function", "ipython",   "model",
                                                             "tool_results", "document", "context"};
  return role.is_string() && std::find(usual.begin(), usual.end(), role.get_ref<const std::string&>()) != usual.end();
}

/// A message, whose role may become part of a control token.
jinja::value message_value(jinja::render_limits& limits, const json& message) {
  jinja::value made = jinja::from_json(limits, message, false);
  const auto* dict = made.get_if<jinja::dict_ref>();
  if (dict == nullptr || !message.contains("role") || !is_usual_role(message["role"])) return made;
  jinja::dict_data with_role = **dict;
  for (auto& [key, item] : with_role.entries)
    if ((*key.get_if<jinja::text_ref>())->text() == "role") item = jinja::from_json(limits, message["role"], true);
  return jinja::value(std::make_shared<const jinja::dict_data>(std::move(with_role)));
}

jinja::value messages_value(jinja::render_limits& limits, const json& messages) {
  if (!messages.is_array()) return jinja::from_json(limits, messages, false);
  std::vector<jinja::value> items;
  for (const json& message : messages) items.push_back(message_value(limits, message));
  return make_list(limits, std::move(items));
}

/// A special token is written as its text, or as an object that holds it.
std::optional<std::string> token_content(const nlohmann::json& token) {
  if (token.is_string()) return token.get<std::string>();
  const bool in_object = token.is_object() && token.contains("content") && token["content"].is_string();
  return in_object ? std::optional(token["content"].get<std::string>()) : std::nullopt;
}

/// The template in a list of [{"name": ..., "template": ...}].
std::optional<std::string> named_template(const nlohmann::json& list, const std::string& where) {
  std::optional<std::string> chosen;
  const auto text = [&](const nlohmann::json& each, const char* key) {
    if (!each.is_object() || !each.contains(key) || !each[key].is_string())
      throw load_error(where + ": chat_template should list objects with the texts name and template.");
    return each[key].get<std::string>();
  };
  for (const nlohmann::json& each : list)
    if (std::string source = text(each, "template"); text(each, "name") == "default" || !chosen)
      chosen = std::move(source);
  return chosen;
}

// Not the ordered kind: its objects take quadratic time to read.
nlohmann::json object_in(const std::string& text, const std::string& where) {
  nlohmann::json read = nlohmann::json::parse(text, nullptr, false);
  if (!read.is_object()) throw load_error(where + ": expected a JSON object; get the file again.");
  return read;
}

/// The member `chat_template`: a text, or a list of named ones.
std::optional<std::string> template_in(const nlohmann::json& object, const std::string& where) {
  const auto found = object.find("chat_template");
  if (found == object.end() || found->is_null()) return std::nullopt;
  if (found->is_string()) return found->get<std::string>();
  if (found->is_array()) return named_template(*found, where);
  throw load_error(where + ": chat_template should be a string or a list, found " + found->type_name() + ".");
}

} // namespace

struct chat_template::program {
  jinja::block body;
  json constants;
};

chat_template chat_template::parse(const std::string& source, const std::string& where, json constants) {
  if (source.size() > max_template_bytes)
    throw load_error(where + ": the chat template has " + std::to_string(source.size()) + " bytes, expected at most " +
                     std::to_string(max_template_bytes) + "; use another template.");
  chat_template made;
  made.program_ = std::make_shared<const program>(program{jinja::parse(source, where), std::move(constants)});
  made.takes_content_parts_ = made.prints_content_parts();
  return made;
}

bool chat_template::prints_content_parts() const {
  const std::string text = "a probe";
  const json part = {{"type", "text"}, {"text", text}};
  const json variables = {{"messages", {{{"role", "user"}, {"content", json::array({part})}}}},
                          {"add_generation_prompt", true}};
  try {
    const std::string printed = render(variables).text();
    const bool as_data = printed.find("'type'") != std::string::npos || printed.find("\"type\"") != std::string::npos;
    return !as_data && printed.find(text) != std::string::npos;
  } catch (const input_error&) {
    return false; // the template's answer to the probe is no
  }
}

marked_text chat_template::render(const json& variables, const std::optional<std::tm>& now) const {
  jinja::render_limits limits;
  std::vector<std::pair<std::string, jinja::value>> values;
  for (const auto& [name, of] : variables.items())
    values.emplace_back(name, name == "messages" ? messages_value(limits, of) : jinja::from_json(limits, of, false));
  for (const auto& [name, of] : program_->constants.items())
    if (!variables.contains(name)) values.emplace_back(name, jinja::from_json(limits, of, true));
  return jinja::interpreter(program_->body, limits, std::move(values), now).run();
}

chat_template_files find_chat_template(const std::optional<std::string>& tokenizer_config,
                                       std::optional<std::string> jinja_file,
                                       const std::optional<std::string>& json_file, const std::string& folder) {
  chat_template_files found{std::move(jinja_file), folder + "/chat_template.jinja", json::object()};
  const auto look_in = [&found](const nlohmann::json& object, const std::string& where) {
    if (found.source) return;
    found.where = where;
    found.source = template_in(object, where);
  };
  if (json_file) {
    const std::string where = folder + "/chat_template.json";
    look_in(object_in(*json_file, where), where);
  }
  if (!tokenizer_config) return found;
  const std::string where = folder + "/tokenizer_config.json";
  const nlohmann::json config = object_in(*tokenizer_config, where);
  for (const char* name : {"bos_token", "eos_token", "unk_token", "pad_token", "sep_token", "cls_token", "mask_token"})
    if (auto content = config.contains(name) ? token_content(config[name]) : std::nullopt)
      found.constants[name] = *content;
  if (const auto more = config.find("additional_special_tokens"); more != config.end() && more->is_array())
    for (const nlohmann::json& token : *more)
      if (auto content = token_content(token)) found.constants["additional_special_tokens"].push_back(*content);
  look_in(config, where);
  return found;
}

} // namespace omni::text
