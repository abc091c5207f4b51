#include "app/openai/chat_prompt.hpp"
#include "app/openai/endpoints.hpp"
#include "app/openai/errors.hpp"
#include "app/openai/prompt_job.hpp"
#include "kernels/core/error.hpp"
#include "kernels/text/tokenizer.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>

namespace omni::openai {
namespace {

constexpr std::size_t max_ids = 1 << 20U;
constexpr std::size_t min_prompt_limit = 1 << 20U; // bytes that may be tokenised whatever the context holds

/// The ids of a plain `prompt`, or of `messages`.
expected<std::vector<std::int32_t>> read_tokens(const json& body, const context& server,
                                                const std::atomic<bool>& cancelled, bool& token_strings) {
  const pipeline_facts& pipeline = *server.pipeline;
  std::optional<failure> problem;
  fields from(body, "", problem);
  token_strings = from.boolean("return_token_strs").value_or(false);
  if (from.find("prompt") == nullptr && from.find("messages") != nullptr) {
    if (problem) return tl::unexpected(std::move(*problem));
    return read_prompt(body, pipeline, server.media, cancelled).map([](placed_prompt&& read) {
      return std::move(read.tokens);
    });
  }
  const auto prompt = from.text("prompt");
  if (!prompt) from.refuse("prompt", "must be a string, or send messages");
  const std::size_t most = std::max(min_prompt_limit, pipeline.max_prompt_bytes);
  if (prompt && prompt->size() > most)
    from.refuse_with("prompt", "prompt may have at most " + std::to_string(most) + " bytes, found " +
                                   std::to_string(prompt->size()) + ".");
  const bool specials = from.boolean("add_special_tokens").value_or(true);
  if (problem) return tl::unexpected(std::move(*problem));
  try {
    return pipeline.tokenizer->encode(*prompt, text::specials::recognised, specials);
  } catch (const input_error& error) {
    return fail(errc::invalid_request, error.what(), "prompt");
  }
}

std::optional<failure> check(context& server, const json& body) {
  std::optional<failure> problem;
  fields from(body, "", problem);
  read_model(from, server.served_names);
  if (!problem && server.pipeline->tokenizer == nullptr)
    problem =
        failure{errc::invalid_request, "This server's pipeline has no tokenizer: it does not read text.", "prompt"};
  return problem;
}

void answer_tokens(const context& server, const json& body, const std::atomic<bool>& cancelled,
                   const responder_ptr& to) {
  bool token_strings = false;
  const auto ids = read_tokens(body, server, cancelled, token_strings);
  if (!ids) return to->send(error_response(ids.error()));
  json out;
  out["count"] = ids->size();
  out["max_model_len"] = server.pipeline->max_model_len;
  out["tokens"] = *ids;
  out["token_strs"] = nullptr;
  if (token_strings) {
    out["token_strs"] = json::array();
    for (const std::int32_t id : *ids) out["token_strs"].push_back(server.pipeline->tokenizer->token_content(id));
  }
  to->send({.body = dump(out)});
}

} // namespace

void tokenize(context& server, json body, responder_ptr to) {
  if (const auto problem = check(server, body)) return to->send(error_response(*problem));
  with_prompt(server, std::move(body), std::move(to),
              [&server](const json& whole, const std::atomic<bool>& cancelled, const responder_ptr& answer) {
                answer_tokens(server, whole, cancelled, answer);
              });
}

void detokenize(context& server, const json& body, const responder_ptr& to) {
  auto problem = check(server, body);
  if (problem) return to->send(error_response(*problem));
  fields from(body, "", problem);
  const auto ids = from.integers("tokens", 0, server.pipeline->vocab_size - 1, max_ids);
  if (!ids) from.refuse("tokens", "must be a list of token ids");
  if (problem) return to->send(error_response(*problem));
  json out;
  out["prompt"] = server.pipeline->tokenizer->decode(*ids, false);
  to->send({.body = dump(out)});
}

} // namespace omni::openai
