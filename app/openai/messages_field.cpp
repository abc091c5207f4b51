#include "app/openai/chat_prompt.hpp"
#include "app/openai/fields.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace omni::openai {
namespace {

constexpr std::size_t max_messages = 4096;
constexpr std::size_t max_parts = 1024;

/// A list of text parts: as it is, or joined as vLLM does for templates that take plain strings.
json read_parts(fields& message, const json& parts, bool takes_parts, std::optional<failure>& problem) {
  std::string joined;
  json list = json::array();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string path = message.path_of("content") + "[" + std::to_string(i) + "]";
    if (!parts[i].is_object()) {
      message.refuse_with("content[" + std::to_string(i) + "]",
                          path + " must be an object with a type, found " + shown(parts[i]) + ".");
      return {};
    }
    fields part(parts[i], path, problem);
    const auto type = part.text("type");
    if (!type)
      part.refuse("type", "must be text");
    else if (*type != "text")
      part.refuse("type", "must be text, the only input that this server's model reads");
    const auto text = part.text("text");
    if (!text) part.refuse("text", "must be a string");
    if (part.failed()) return {};
    joined += (i > 0 ? "\n" : "") + *text;
    list.push_back({{"type", "text"}, {"text", *text}});
  }
  return takes_parts ? list : json(joined);
}

void read_content(fields& message, const std::string& role, bool takes_parts, std::optional<failure>& problem,
                  json& into) {
  const json* content = message.find("content");
  if (content == nullptr) {
    const bool calls = message.find("tool_calls") != nullptr;
    if (role == "assistant" && message.find("audio") != nullptr && !calls)
      return message.refuse_with(
          "audio", message.path_of("audio") +
                       " names an earlier answer, which this server does not keep: send its text as content.");
    if (role != "assistant" || !calls) return message.refuse("content", "must be a string or a list of parts");
    into["content"] = "";
    return;
  }
  if (content->is_string()) {
    into["content"] = *content;
  } else if (content->is_array() && content->size() <= max_parts) {
    into["content"] = read_parts(message, *content, takes_parts, problem);
  } else {
    message.refuse("content", "must be a string or a list of at most " + std::to_string(max_parts) + " parts");
  }
}

/// Tool calls of an earlier answer; templates expect `arguments` as an object, OpenAI sends its JSON text.
void read_tool_calls(fields& message, std::optional<failure>& problem, json& into) {
  const json* calls = message.list("tool_calls", max_parts);
  if (calls == nullptr || calls->empty()) return;
  json out = json::array();
  for (std::size_t i = 0; i < calls->size(); ++i) {
    const std::string path = message.path_of("tool_calls") + "[" + std::to_string(i) + "]";
    const json& call = (*calls)[i];
    if (!call.is_object() || !call.contains("function") || !call["function"].is_object())
      return message.refuse_with("tool_calls[" + std::to_string(i) + "]",
                                 path + " must be an object with a function, found " + shown(call) + ".");
    fields function(call["function"], path + ".function", problem);
    if (!function.text("name")) return function.refuse("name", "must be a string");
    json copy = call;
    json& arguments = copy["function"]["arguments"];
    if (arguments.is_string()) {
      auto parsed = parse_object(
          arguments.get_ref<const std::string&>().empty() ? "{}" : arguments.get_ref<const std::string&>());
      if (!parsed) return function.refuse("arguments", "must be the text of a JSON object");
      arguments = std::move(*parsed);
    } else if (arguments.is_null()) {
      arguments = json::object();
    } else if (!arguments.is_object()) {
      return function.refuse("arguments", "must be an object or its JSON text");
    }
    out.push_back(std::move(copy));
  }
  into["tool_calls"] = std::move(out);
}

} // namespace

json read_messages(fields& from, bool takes_parts, std::optional<failure>& problem) {
  json out = json::array();
  const json* list = from.list("messages", max_messages);
  if (list == nullptr) {
    from.refuse("messages", "must be a list of at least one message");
    return out;
  }
  if (list->empty()) {
    from.refuse_with("messages", "messages must hold at least one message, found none.");
    return out;
  }
  for (std::size_t i = 0; i < list->size() && !problem; ++i) {
    const std::string path = "messages[" + std::to_string(i) + "]";
    if (!(*list)[i].is_object()) {
      from.refuse_with(path, path + " must be an object with a role, found " + shown((*list)[i]) + ".");
      break;
    }
    fields message((*list)[i], path, problem);
    auto role = message.choice("role", {"system", "developer", "user", "assistant", "tool"});
    if (!role) {
      message.refuse("role", "must be a string");
      break;
    }
    json each;
    each["role"] = *role == "developer" ? "system" : *role; // its newer name; templates know the older one
    read_content(message, *role, takes_parts, problem, each);
    if (*role == "assistant") read_tool_calls(message, problem, each);
    for (const char* name : {"name", "tool_call_id"})
      if (auto text = message.text(name)) each[name] = std::move(*text);
    out.push_back(std::move(each));
  }
  return out;
}

} // namespace omni::openai
