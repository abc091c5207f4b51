#include "kernels/models/decoder/decoder_text.hpp"

#include "kernels/core/mapped_file.hpp"
#include "kernels/weights/hf_config.hpp"
#include "kernels/weights/reject.hpp"

namespace omni {
namespace {

std::string read_text(const std::filesystem::path& path) {
  const auto file = mapped_file::open(path);
  const auto bytes = file->bytes();
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

std::vector<std::string> copy(const std::vector<std::string_view>& views) { return {views.begin(), views.end()}; }

std::optional<std::int32_t> narrow(std::optional<std::int64_t> id) {
  return id ? std::optional(static_cast<std::int32_t>(*id)) : std::nullopt;
}

} // namespace

decoder_text load_decoder_text(const std::filesystem::path& folder) {
  const auto path = folder / "tokenizer.json";
  decoder_text text;
  text.tokens = std::make_unique<text::tokenizer>(text::tokenizer::from_json(read_text(path), path.string()));
  return text;
}

decoder_text load_decoder_text(const gguf_file& file) {
  const auto& m = file.metadata();
  text::gguf_vocabulary v;
  v.model = m.get_string("tokenizer.ggml.model");
  v.pre = m.find_string("tokenizer.ggml.pre").value_or("");
  v.tokens = copy(m.get_strings("tokenizer.ggml.tokens"));
  for (const auto type : m.find_ints("tokenizer.ggml.token_type").value_or(std::vector<std::int64_t>()))
    v.token_types.push_back(static_cast<std::int32_t>(type));
  v.merges = copy(m.find_strings("tokenizer.ggml.merges").value_or(std::vector<std::string_view>()));
  v.bos = narrow(m.find_int("tokenizer.ggml.bos_token_id"));
  v.add_bos = m.find_bool("tokenizer.ggml.add_bos_token");
  decoder_text text;
  text.tokens = std::make_unique<text::tokenizer>(text::tokenizer::from_gguf(std::move(v), file.where()));
  return text;
}

} // namespace omni
