#include "app/openai/json.hpp"

#include <nlohmann/json.hpp>
#include <vector>

namespace omni::openai {
namespace {

constexpr std::size_t max_depth = 64;
constexpr std::size_t max_members = 1024; // an ordered object is searched from its start, so work grows with its square
constexpr std::size_t shown_bytes = 60;

/// Why the shape of the text is refused, or an empty text. Looks at brackets, colons and strings only.
std::string_view shape_problem(std::string_view text) {
  std::vector<std::size_t> members; // per open bracket
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      in_string = c != '"';
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '{' || c == '[') {
      if (members.size() == max_depth) return "is nested deeper than 64 levels";
      members.push_back(0);
    }
    if ((c == '}' || c == ']') && !members.empty()) members.pop_back();
    if (c == ':' && !members.empty() && ++members.back() > max_members)
      return "has an object of more than 1024 members";
  }
  return {};
}

} // namespace

expected<json> parse_object(std::string_view text, const std::string& name) {
  if (const auto problem = shape_problem(text); !problem.empty())
    return fail(errc::invalid_request, name + " " + std::string(problem) + ".");
  json parsed;
  try {
    parsed = json::parse(text);
  } catch (const json::exception& error) {
    std::string why = error.what(); // "[json.exception.parse_error.101] parse error at line ..."
    if (const auto end = why.find("] "); end != std::string::npos) why.erase(0, end + 2);
    return fail(errc::invalid_request, name + " is not valid JSON: " + why + ".");
  }
  if (!parsed.is_object())
    return fail(errc::invalid_request, name + " must be a JSON object, found " + shown(parsed) + ".");
  return parsed;
}

std::string shown(const json& value) {
  if (value.is_object()) return "an object";
  if (value.is_array()) return "a list";
  std::string text = dump(value);
  if (text.size() <= shown_bytes) return text;
  std::size_t end = shown_bytes;
  while ((static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end; // not inside a character
  return text.substr(0, end) + "...";
}

std::string dump(const json& value) { return value.dump(-1, ' ', false, json::error_handler_t::replace); }

} // namespace omni::openai
