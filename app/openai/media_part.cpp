#include "app/openai/chat_prompt.hpp"
#include "app/openai/fields.hpp"

#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

namespace omni::openai {
namespace {

using kind = media_input::kind;

struct part_type {
  std::string_view name;
  kind what;
};
constexpr std::array<part_type, 4> media_types{
    {{"input_audio", kind::audio}, {"audio_url", kind::audio}, {"image_url", kind::image}, {"video_url", kind::video}}};

const part_type* find_type(std::string_view name) {
  for (const part_type& each : media_types)
    if (each.name == name) return &each;
  return nullptr;
}

} // namespace

bool is_media_type(std::string_view type) { return find_type(type) != nullptr; }

std::optional<media::source> read_media_part(fields& part, const std::string& type, std::optional<failure>& problem) {
  const bool inlined = type == "input_audio";
  const char* value = inlined ? "data" : "url";
  const json* object = part.object(type);
  if (object == nullptr) {
    part.refuse(type, std::string("must be an object with ") + value);
    return std::nullopt;
  }
  fields inside(*object, part.path_of(type), problem);
  if (inlined) inside.text("format"); // the file itself tells
  auto text = inside.text(value);
  if (!text || text->empty()) {
    inside.refuse(value, inlined ? "must be a sound file as base64" : "must be a URL");
    return std::nullopt;
  }
  media::source from{.what = find_type(type)->what, .url = {}, .data = {}, .field = part.path_of(type)};
  (inlined ? from.data : from.url) = std::move(*text);
  return from;
}

bool brings_media(const json& body) {
  const auto messages = body.find("messages");
  if (messages == body.end() || !messages->is_array()) return false;
  for (const json& message : *messages) {
    if (!message.is_object()) continue;
    const auto content = message.find("content");
    if (content == message.end() || !content->is_array()) continue;
    for (const json& part : *content) {
      if (!part.is_object()) continue;
      const auto type = part.find("type");
      if (type != part.end() && type->is_string() && is_media_type(type->get_ref<const std::string&>())) return true;
    }
  }
  return false;
}

} // namespace omni::openai
