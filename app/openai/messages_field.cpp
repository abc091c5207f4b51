#include "app/openai/chat_prompt.hpp"
#include "app/openai/fields.hpp"
#include "kernels/models/stage_model.hpp"
#include "kernels/text/chat_template.hpp"

#include <nlohmann/json.hpp>
#include <string>

namespace omni::openai {
namespace {

constexpr std::size_t max_messages = 4096;
constexpr std::size_t max_parts = 1024;

/// Reads the content of messages.
class content_reader {
public:
  content_reader(const pipeline_facts& pipeline, std::vector<media::source>& media, std::optional<failure>& problem)
      : pipeline_(pipeline), takes_parts_(pipeline.chat_template->takes_content_parts()), media_(media),
        problem_(problem) {}

  void read(fields& message, const std::string& role, json& into);

private:
  json read_parts(fields& message, const json& parts);
  json read_part(fields& part);
  json read_text(fields& part);
  json read_medium(fields& part, const std::string& type);

  const pipeline_facts& pipeline_;
  bool takes_parts_;
  std::vector<media::source>& media_;
  std::optional<failure>& problem_;
};

json content_reader::read_text(fields& part) {
  const auto text = part.text("text");
  if (!text) part.refuse("text", "must be a string");
  return text ? json{{"type", "text"}, {"text", *text}} : json();
}

/// A sound, picture or video, for which templates print its place.
json content_reader::read_medium(fields& part, const std::string& type) {
  if (pipeline_.text_model == nullptr || !pipeline_.text_model->takes_media()) {
    part.refuse("type",
                "must be text, the only input that this server's model reads: leave sounds, pictures and videos "
                "out");
    return {};
  }
  if (!takes_parts_) {
    part.refuse("type", "must be text: the chat template has no place for sounds, pictures and videos, so the operator "
                        "must set another one with --chat-template");
    return {};
  }
  auto from = read_media_part(part, type, problem_);
  if (!from) return {};
  static constexpr const char* names[] = {"audio", "image", "video"};
  json named = {{"type", names[std::size_t(from->what)]}};
  media_.push_back(std::move(*from));
  return named;
}

/// One part as templates take it.
json content_reader::read_part(fields& part) {
  const auto type = part.text("type");
  if (!type) part.refuse("type", "must be text, or name a sound, picture or video");
  if (part.failed()) return {};
  if (*type == "text") return read_text(part);
  if (is_media_type(*type)) return read_medium(part, *type);
  part.refuse("type", "must be text, input_audio, audio_url, image_url or video_url");
  return {};
}

/// A list of parts: as it is, or joined as vLLM does for templates that take plain strings.
json content_reader::read_parts(fields& message, const json& parts) {
  std::string joined;
  json list = json::array();
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::string path = message.path_of("content") + "[" + std::to_string(i) + "]";
    if (!parts[i].is_object()) {
      message.refuse_with("content[" + std::to_string(i) + "]",
                          path + " must be an object with a type, found " + shown(parts[i]) + ".");
      return {};
    }
    fields part(parts[i], path, problem_);
    json read = read_part(part);
    if (part.failed()) return {};
    if (!takes_parts_ && i > 0) joined += '\n';
    if (!takes_parts_) joined += read["text"].get_ref<const std::string&>();
    list.push_back(std::move(read));
  }
  return takes_parts_ ? list : json(joined);
}

void content_reader::read(fields& message, const std::string& role, json& into) {
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
    into["content"] = read_parts(message, *content);
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

json read_messages(fields& from, const pipeline_facts& pipeline, std::vector<media::source>& media,
                   std::optional<failure>& problem) {
  json out = json::array();
  content_reader contents(pipeline, media, problem);
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
    contents.read(message, *role, each);
    if (*role == "assistant") read_tool_calls(message, problem, each);
    for (const char* name : {"name", "tool_call_id"})
      if (auto text = message.text(name)) each[name] = std::move(*text);
    out.push_back(std::move(each));
  }
  return out;
}

} // namespace omni::openai
