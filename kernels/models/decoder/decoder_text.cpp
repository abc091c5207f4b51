#include "kernels/models/decoder/decoder_text.hpp"

#include "kernels/core/mapped_file.hpp"
#include "kernels/weights/reject.hpp"

#include <utility>

namespace omni {
namespace {

using token_names = std::vector<std::string_view>;

std::string read_text(const std::filesystem::path& path) {
  const auto file = mapped_file::open(path);
  const auto bytes = file->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::optional<std::string> read_if_there(const std::filesystem::path& path) {
  return std::filesystem::exists(path) ? std::optional(read_text(path)) : std::nullopt;
}

std::unique_ptr<const text::chat_template> parse(const std::string& source, const std::string& where,
                                                 nlohmann::ordered_json constants) {
  return std::make_unique<text::chat_template>(text::chat_template::parse(source, where, std::move(constants)));
}

text::gguf_vocabulary read_vocabulary(const gguf_metadata& m, const token_names& tokens) {
  text::gguf_vocabulary v;
  v.model = m.get_string("tokenizer.ggml.model");
  v.pre = m.find_string("tokenizer.ggml.pre").value_or("");
  v.tokens.assign(tokens.begin(), tokens.end());
  for (const auto type : m.find_ints("tokenizer.ggml.token_type").value_or(std::vector<std::int64_t>()))
    v.token_types.push_back(static_cast<std::int32_t>(type));
  const auto merges = m.find_strings("tokenizer.ggml.merges").value_or(token_names());
  v.merges.assign(merges.begin(), merges.end());
  if (const auto bos = m.find_int("tokenizer.ggml.bos_token_id")) v.bos = static_cast<std::int32_t>(*bos);
  v.add_bos = m.find_bool("tokenizer.ggml.add_bos_token");
  return v;
}

/// The special tokens that a template may print, by the names that templates use.
nlohmann::ordered_json special_tokens(const gguf_metadata& m, const token_names& tokens, const std::string& where) {
  constexpr std::pair<const char*, const char*> names[] = {{"bos_token", "tokenizer.ggml.bos_token_id"},
                                                           {"eos_token", "tokenizer.ggml.eos_token_id"},
                                                           {"pad_token", "tokenizer.ggml.padding_token_id"},
                                                           {"unk_token", "tokenizer.ggml.unknown_token_id"}};
  nlohmann::ordered_json constants = nlohmann::ordered_json::object();
  for (const auto& [name, key] : names) {
    const auto id = m.find_int(key);
    if (!id) continue;
    if (*id >= static_cast<std::int64_t>(tokens.size()))
      reject(where, std::string(key) + " is " + std::to_string(*id) + ", expected one of the " +
                        std::to_string(tokens.size()) + " tokens");
    constants[name] = std::string(tokens[static_cast<std::size_t>(*id)]);
  }
  return constants;
}

} // namespace

decoder_text load_decoder_text(const std::filesystem::path& folder) {
  decoder_text text;
  const auto path = folder / "tokenizer.json";
  text.tokens = std::make_unique<text::tokenizer>(text::tokenizer::from_json(read_text(path), path.string()));
  auto found = text::find_chat_template(read_if_there(folder / "tokenizer_config.json"),
                                        read_if_there(folder / "chat_template.jinja"),
                                        read_if_there(folder / "chat_template.json"), folder.string());
  if (found.source) text.chat = parse(*found.source, found.where, std::move(found.constants));
  return text;
}

decoder_text load_decoder_text(const gguf_file& file) {
  const auto& m = file.metadata();
  const token_names tokens = m.get_strings("tokenizer.ggml.tokens");
  decoder_text text;
  text.tokens = std::make_unique<text::tokenizer>(text::tokenizer::from_gguf(read_vocabulary(m, tokens), file.where()));
  if (const auto source = m.find_string("tokenizer.chat_template"))
    text.chat =
        parse(std::string(*source), file.where() + " tokenizer.chat_template", special_tokens(m, tokens, file.where()));
  return text;
}

} // namespace omni
