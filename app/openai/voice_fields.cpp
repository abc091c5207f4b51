#include "app/openai/voice_fields.hpp"

#include "app/http/message.hpp"

#include <nlohmann/json.hpp>

namespace omni::openai {

std::optional<std::string> read_speaker(fields& from, std::string_view name, const std::vector<std::string>& speakers) {
  const json* value = from.find(name);
  if (value == nullptr) return {};
  if (value->is_object() && value->contains("id")) value = &(*value)["id"];
  if (!value->is_string()) {
    from.refuse(name, R"(must be a voice's name or {"id": name})");
    return {};
  }
  const auto& wanted = value->get_ref<const std::string&>();
  if (wanted.empty() || http::same_name(wanted, "default")) return std::string();
  std::string names = "default";
  for (const std::string& each : speakers) {
    if (http::same_name(each, wanted)) return each;
    names += ", " + each;
  }
  from.refuse_with(name, "There is no voice named " + shown(*value) + "; this server has: " + names + ".");
  return {};
}

std::optional<sound_format> read_sound_format(fields& from, std::string_view name) {
  const auto chosen = from.choice(name, {"wav", "pcm", "pcm16"});
  if (!chosen) return {};
  return *chosen == "wav" ? sound_format::wav : sound_format::pcm;
}

} // namespace omni::openai
