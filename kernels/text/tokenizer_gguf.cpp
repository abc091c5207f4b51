#include "kernels/core/error.hpp"
#include "kernels/text/pre_patterns.hpp"
#include "kernels/text/tokenizer.hpp"

#include <algorithm>
#include <array>

namespace omni::text {
namespace {

/// One way to cut text, as `tokenizer.ggml.pre` names it.
struct known_pre {
  std::string_view name;
  std::vector<std::string_view> patterns;               // each cuts further what the one before left
  std::optional<normal_form> normalizer = std::nullopt; // the file does not say it, the original tokenizer does it
  bool ignore_merges = false;
  bool add_bos = false; // unless the file says otherwise
};

const known_pre* find_pre(std::string_view name, std::string& all_names) {
  static const std::vector<known_pre> table = {
      {"default", {R"([\p{P}\$\+<=>\^~\|]+)", gpt2_pattern, R"(\p{N}+)", "[0-9][0-9][0-9]"}},
      {"gpt-2", {gpt2_pattern}},
      {"smollm", {R"(\p{N})", gpt2_pattern}},
      {"starcoder", {R"(\p{N})", gpt2_pattern}},
      {"qwen2", {qwen2_pattern}, normal_form::nfc},
      {"deepseek-r1-qwen", {qwen2_pattern}, normal_form::nfc},
      {"llama-bpe", {llama3_pattern}, std::nullopt, true, true},
      {"llama3", {llama3_pattern}, std::nullopt, true, true},
  };
  const known_pre* found = nullptr;
  for (const known_pre& each : table) {
    if (each.name == name) found = &each;
    all_names.append(all_names.empty() ? "" : ", ").append(each.name);
  }
  return found;
}

enum class token_type : std::int32_t { normal = 1, unknown, control, user_defined, unused, byte };

} // namespace

tokenizer tokenizer::from_gguf(gguf_vocabulary vocabulary, const std::string& where) {
  const auto refuse = [&](const std::string& what) { throw load_error(where + ": " + what + "."); };
  if (vocabulary.model != "gpt2")
    refuse("tokenizer.ggml.model is '" + vocabulary.model +
           "', but only 'gpt2' (byte-level BPE) is supported; use a model with such a tokenizer");
  std::string all_names;
  const known_pre* pre = find_pre(vocabulary.pre.empty() ? "default" : vocabulary.pre, all_names);
  if (pre == nullptr) refuse("tokenizer.ggml.pre is '" + vocabulary.pre + "', but only these are known: " + all_names);
  if (!vocabulary.token_types.empty() && vocabulary.token_types.size() != vocabulary.tokens.size())
    refuse("tokenizer.ggml.token_type has " + std::to_string(vocabulary.token_types.size()) + " entries for " +
           std::to_string(vocabulary.tokens.size()) + " tokens");
  if (vocabulary.tokens.size() > INT32_MAX) refuse("the vocabulary has too many tokens");

  tokenizer_parts parts;
  for (const std::string_view pattern : pre->patterns)
    parts.cut.add_pattern({std::string(pattern), where}, pre_tokenizer::keep::all);
  parts.normalizer = pre->normalizer;
  parts.ignore_merges = pre->ignore_merges;
  for (std::size_t at = 0; at < vocabulary.tokens.size(); ++at) {
    const auto id = static_cast<std::int32_t>(at);
    const auto type = vocabulary.token_types.empty() ? token_type::normal : token_type(vocabulary.token_types[at]);
    if (type == token_type::control || type == token_type::user_defined)
      parts.added.push_back(
          {.id = id, .content = std::move(vocabulary.tokens[at]), .special = type == token_type::control});
    else
      parts.vocabulary.push_back({std::move(vocabulary.tokens[at]), id});
  }
  for (const std::string& merge : vocabulary.merges) {
    const std::size_t space = merge.find(' ');
    if (space == std::string::npos)
      refuse("a merge should be two tokens with a space between, found '" + merge.substr(0, 40) + "'");
    parts.merges.emplace_back(merge.substr(0, space), merge.substr(space + 1));
  }
  if (vocabulary.add_bos.value_or(pre->add_bos)) {
    if (!vocabulary.bos) refuse("prompts should begin with a token, but tokenizer.ggml.bos_token_id is missing");
    parts.before.push_back(*vocabulary.bos);
  }
  return {parts, where};
}

} // namespace omni::text
