#pragma once

#include "kernels/text/marked_text.hpp"

#include <ctime>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

namespace omni::text {

/// A model's chat template: a Jinja program that turns messages into the prompt's text. Immutable after parsing, so any
/// thread may render with it.
class chat_template {
public:
  /// `where` names the template's file in errors. `constants` are variables that belong to the checkpoint, like
  /// bos_token; they count as the operator's text. Throws `load_error` with the line at fault.
  static chat_template parse(const std::string& source, const std::string& where,
                             nlohmann::ordered_json constants = nlohmann::ordered_json::object());

  /// Renders with a request's variables: messages, tools, add_generation_prompt and whatever the template knows. Their
  /// strings are marked as the caller's in the result, through everything the template does to them; only a message's
  /// role is not, if it is a usual one, because templates build control tokens from it. `now` is the date that
  /// strftime_now tells; without it the function does not exist. Objects keep the order of their keys.
  /// Throws `input_error` about "messages" when the template refuses them, cannot deal with them, or does too much
  /// work.
  [[nodiscard]] marked_text render(const nlohmann::ordered_json& variables,
                                   const std::optional<std::tm>& now = {}) const;

  /// Whether a message's content may be a list of parts, [{"type": "text", "text": ...}]; else it must be a string.
  [[nodiscard]] bool takes_content_parts() const { return takes_content_parts_; }

private:
  struct program;
  chat_template() = default;
  [[nodiscard]] bool prints_content_parts() const;
  std::shared_ptr<const program> program_;
  bool takes_content_parts_ = false;
};

/// The template of a Hugging Face directory and the special tokens that it may print.
struct chat_template_files {
  std::optional<std::string> source; // absent: the model has none
  std::string where;                 // its file
  nlohmann::ordered_json constants;  // bos_token, eos_token, ... by name
};

/// Finds the template: `jinja_file` (chat_template.jinja) if there is one, else the one in `json_file`
/// (chat_template.json, which models with sounds or pictures have), else the one in `tokenizer_config`
/// (tokenizer_config.json). The latter two may hold a list of named ones: then "default", else the first. Each text may
/// be absent. Throws `load_error` naming `folder` when a file is not what it should be.
chat_template_files find_chat_template(const std::optional<std::string>& tokenizer_config,
                                       std::optional<std::string> jinja_file,
                                       const std::optional<std::string>& json_file, const std::string& folder);

} // namespace omni::text
