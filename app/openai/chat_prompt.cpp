#include "app/openai/chat_prompt.hpp"

#include "app/openai/fields.hpp"
#include "kernels/core/error.hpp"
#include "kernels/text/chat_template.hpp"
#include "kernels/text/tokenizer.hpp"

#include <ctime>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>

namespace omni::openai {
namespace {

constexpr std::size_t max_tools = 1024;

/// `tools` for the template, or null. Calls are written by the model as text: nothing here takes them apart, so a
/// request that relies on a call being made cannot be honoured.
json read_tools(fields& from, std::optional<failure>& problem) {
  const json* tools = from.list("tools", max_tools);
  const json* choice = from.find("tool_choice");
  if (choice != nullptr && *choice != "auto" && *choice != "none")
    from.refuse("tool_choice",
                "must be auto or none: this server passes tools to the model but does not force or parse calls");
  if (tools == nullptr || tools->empty() || (choice != nullptr && *choice == "none")) return nullptr;
  for (std::size_t i = 0; i < tools->size(); ++i) {
    const std::string path = "tools[" + std::to_string(i) + "]";
    const json& tool = (*tools)[i];
    if (!tool.is_object()) {
      from.refuse_with(path, path + " must be an object with a type and a function, found " + shown(tool) + ".");
      break;
    }
    fields inside(tool, path, problem);
    inside.choice("type", {"function"});
    const json* function = inside.object("function");
    if (function == nullptr)
      inside.refuse("function", "must be an object");
    else if (fields named(*function, path + ".function", problem); !named.text("name"))
      named.refuse("name", "must be a string");
  }
  return *tools;
}

/// Cuts the rendered prompt after the last message's text, so that the model continues it.
text::marked_text open_ended(const text::marked_text& rendered, const json& last) {
  const json* end = &last["content"];
  if (end->is_array() && !end->empty()) end = &end->back();
  if (end->is_object() && end->contains("text")) end = &(*end)["text"];
  if (!end->is_string())
    throw input_error("continue_final_message", "The last message does not end with text, so it cannot be continued.");
  std::string content = end->get<std::string>();
  const auto is_space = [](char c) { return c == ' ' || (c >= '\t' && c <= '\r'); };
  while (!content.empty() && is_space(content.back())) content.pop_back(); // templates trim
  const auto at = rendered.text().rfind(content);
  if (at == std::string::npos)
    throw input_error("continue_final_message",
                      "The chat template does not print the last message as it is, so it cannot be continued.");
  return text::marked_text(rendered.view().substr(0, at + content.size()));
}

std::tm local_time() {
  const std::time_t now = std::time(nullptr);
  std::tm out{};
  localtime_r(&now, &out);
  return out;
}

struct prompt_options {
  json variables;
  std::vector<media::source> media;
  bool continue_final = false;
};

prompt_options read_options(fields& from, const pipeline_facts& pipeline, std::optional<failure>& problem) {
  prompt_options out;
  out.continue_final = from.boolean("continue_final_message").value_or(false);
  const auto generation = from.boolean("add_generation_prompt");
  if (out.continue_final && generation.value_or(false))
    from.refuse_with("continue_final_message", "continue_final_message and add_generation_prompt cannot both be true.");
  if (const json* own = from.object("chat_template_kwargs")) out.variables = *own;
  out.variables["messages"] = read_messages(from, pipeline, out.media, problem);
  out.variables["tools"] = read_tools(from, problem);
  out.variables["add_generation_prompt"] = generation.value_or(!out.continue_final);
  return out;
}

/// What the media of the messages hold.
expected<media::reader::all> read_media(const std::vector<media::source>& sources, const media::reader& by,
                                        const std::atomic<bool>& cancelled) {
  auto read = by.read(sources, cancelled);
  if (read) return std::move(*read);
  const auto& why = read.error();
  return fail(why.busy ? errc::overloaded : errc::invalid_request, why.field + " " + why.what + ".", why.field);
}

/// The text of the messages as token ids: one in the place of each sound, picture or video.
expected<std::vector<std::int32_t>> rendered_tokens(const prompt_options& options, const pipeline_facts& pipeline) {
  const text::marked_text rendered = pipeline.chat_template->render(options.variables, local_time());
  if (rendered.size() > pipeline.max_prompt_bytes) // spares the others the time of cutting it into tokens
    return fail(errc::context_too_long,
                "The messages have " + std::to_string(rendered.size()) + " bytes, more than this model's context of " +
                    std::to_string(pipeline.max_model_len) + " tokens can hold: shorten them.",
                "messages");
  if (!options.continue_final) return pipeline.tokenizer->encode(rendered);
  return pipeline.tokenizer->encode(open_ended(rendered, options.variables["messages"].back()));
}

/// Whether the model can take what came in `field`.
expected<void> check_medium(const stage_model& model, const media_input& medium, const std::string& field) {
  try {
    model.check_media(medium);
    return {};
  } catch (const input_error& error) {
    return fail(errc::invalid_request, field + ": " + error.what(), field);
  }
}

} // namespace

expected<placed_prompt> read_prompt(const json& body, const pipeline_facts& pipeline, const media::reader& media,
                                    const std::atomic<bool>& cancelled) {
  if (!pipeline.chat_template)
    return fail(errc::invalid_request, "This model has no chat template: start the server with --chat-template FILE.",
                "messages");
  std::optional<failure> problem;
  fields from(body, "", problem);
  const prompt_options options = read_options(from, pipeline, problem);
  if (problem) return tl::unexpected(std::move(*problem));
  try {
    auto tokens = rendered_tokens(options, pipeline);
    if (!tokens) return tl::unexpected(std::move(tokens.error()));
    if (options.media.empty()) return placed_prompt{std::move(*tokens), {}};
    auto decoded = read_media(options.media, media, cancelled);
    if (!decoded) return tl::unexpected(std::move(decoded.error()));
    for (std::size_t i = 0; i < decoded->size(); ++i)
      if (auto good = check_medium(*pipeline.text_model, *(*decoded)[i], options.media[i].field); !good)
        return tl::unexpected(std::move(good.error()));
    return pipeline.text_model->place_media(std::move(*tokens), std::move(*decoded));
  } catch (const input_error& error) {
    return fail(errc::invalid_request, error.what(), error.param);
  }
}

} // namespace omni::openai
