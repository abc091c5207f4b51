#include "kernels/models/decoder/decoder_config.hpp"
#include "kernels/weights/convert.hpp"
#include "kernels/weights/reject.hpp"

#include <algorithm>

namespace omni {
namespace {

namespace limit = decoder_limits;

std::string family_of(std::string_view architecture) {
  if (architecture == "qwen3moe") return "qwen3_moe";
  if (architecture == "llama" || architecture == "qwen2" || architecture == "qwen3") return std::string(architecture);
  return "";
}

/// Metadata below the architecture's name.
class section {
public:
  section(const gguf_metadata& all, std::string_view name) : all_(all), prefix_(std::string(name) + ".") {}
  [[nodiscard]] std::int64_t get_int(const char* key, int_range range) const {
    return all_.get_int(prefix_ + key, range);
  }
  [[nodiscard]] std::int64_t int_or(const char* key, std::int64_t other, int_range range) const {
    return all_.find_int(prefix_ + key, range).value_or(other);
  }
  [[nodiscard]] double float_or(const char* key, double other) const {
    return all_.find_float(prefix_ + key).value_or(other);
  }
  [[nodiscard]] std::string string_or(const char* key, const char* other) const {
    return std::string(all_.find_string(prefix_ + key).value_or(other));
  }

private:
  const gguf_metadata& all_;
  std::string prefix_;
};

rope_config read_rope(const section& s, const gguf_file& file, std::int64_t head_dim, std::int64_t context) {
  rope_config r;
  r.theta = s.float_or("rope.freq_base", 10000.0);
  r.dims = s.int_or("rope.dimension_count", head_dim, limit::head_dim);
  const std::string kind = s.string_or("rope.scaling.type", "none");
  if (kind == "linear")
    r.kind = rope_kind::linear;
  else if (kind == "yarn")
    r.kind = rope_kind::yarn;
  else if (kind != "none")
    reject(file.where(), "the rope type " + shown(kind) + " is not supported, expected none, linear or yarn");
  if (r.kind != rope_kind::plain) r.factor = s.float_or("rope.scaling.factor", 1.0);
  r.original_context = s.int_or("rope.scaling.original_context_length", context, limit::context);
  r.beta_fast = s.float_or("rope.scaling.yarn_beta_fast", r.beta_fast);
  r.beta_slow = s.float_or("rope.scaling.yarn_beta_slow", r.beta_slow);
  if (const double factor = s.float_or("rope.scaling.attn_factor", 1.0); r.kind == rope_kind::yarn && factor != 1.0)
    r.attention_factor = factor * static_cast<double>(rope_amplitude(r));
  if (file.find("rope_freqs.weight")) {
    const tensor divisors = file.get("rope_freqs.weight", {r.dims / 2});
    r.divisors.resize(static_cast<std::size_t>(divisors.values()));
    read_f32(divisors, r.divisors);
    if (!std::all_of(r.divisors.begin(), r.divisors.end(), [](float x) { return x > 0.0F; }))
      reject(file.where(), "rope_freqs.weight must hold positive numbers");
  }
  return r;
}

mlp_config read_mlp(const section& s, const gguf_file& file, const std::string& family, const std::string& layer) {
  mlp_config m;
  // A layer without a router is dense.
  if (family != "qwen3_moe" || !file.find(layer + "ffn_gate_inp.weight")) {
    m.width = s.get_int("feed_forward_length", limit::width);
    m.bias = file.find(layer + "ffn_up.bias").has_value();
    return m;
  }
  m.width = s.get_int("expert_feed_forward_length", limit::width);
  m.experts = s.get_int("expert_count", {1, limit::experts.high});
  m.top = s.get_int("expert_used_count", {1, limit::experts.high});
  m.normalise_top = true; // Qwen3-MoE always does; the file has no key for it
  return m;
}

/// The id of a token, from its text.
std::optional<std::int64_t> find_token(const gguf_metadata& m, std::string_view text) {
  const auto tokens = m.find_strings("tokenizer.ggml.tokens");
  if (!tokens) return std::nullopt;
  const auto at = std::find(tokens->begin(), tokens->end(), text);
  if (at == tokens->end()) return std::nullopt;
  return at - tokens->begin();
}

std::vector<std::int32_t> read_eos_ids(const gguf_metadata& m, const std::string& family) {
  std::vector<std::int32_t> ids;
  const auto add = [&](std::optional<std::int64_t> id) {
    if (id && std::find(ids.begin(), ids.end(), *id) == ids.end()) ids.push_back(static_cast<std::int32_t>(*id));
  };
  add(m.find_int("tokenizer.ggml.eos_token_id"));
  add(m.find_int("tokenizer.ggml.eot_token_id"));
  // The generation_config.json of Qwen models also names this one; the conversion to GGUF drops it.
  if (family != "llama") add(find_token(m, "<|endoftext|>"));
  return ids;
}

} // namespace

decoder_config decoder_config_from(const gguf_file& file) {
  const auto& metadata = file.metadata();
  const std::string architecture(metadata.get_string("general.architecture"));
  decoder_config d;
  d.family = family_of(architecture);
  if (d.family.empty()) reject_architecture(file.where(), architecture);
  const section s(metadata, architecture);
  if (d.family != "qwen3_moe" && s.int_or("expert_count", 0, limit::experts) > 0)
    reject(file.where(), "experts are only supported for the architecture qwen3moe, found " + shown(architecture));
  d.hidden = s.get_int("embedding_length", limit::width);
  d.context = s.get_int("context_length", limit::context);
  d.norm_epsilon = static_cast<float>(s.float_or("attention.layer_norm_rms_epsilon", 1e-6));
  d.permuted_qk = d.family == "llama";
  const auto table = file.find("token_embd.weight");
  if (!table) reject(file.where(), "the tensor token_embd.weight is missing, is this a text model");
  d.vocab = s.int_or("vocab_size", table->extents[0], limit::vocab);
  d.tied = !file.find("output.weight").has_value();

  attention_config a;
  a.heads = s.get_int("attention.head_count", limit::heads);
  a.kv_heads = s.int_or("attention.head_count_kv", a.heads, limit::heads);
  a.head_dim = s.int_or("attention.key_length", d.hidden / a.heads, limit::head_dim);
  if (const auto value_dim = s.int_or("attention.value_length", a.head_dim, limit::width); value_dim != a.head_dim)
    reject(file.where(), "heads have " + std::to_string(a.head_dim) + " dims for keys but " +
                             std::to_string(value_dim) + " for values, expected the same");
  a.qk_norm = d.family == "qwen3" || d.family == "qwen3_moe";
  a.qkv_bias = d.family == "qwen2" || file.find("blk.0.attn_q.bias").has_value();
  a.out_bias = file.find("blk.0.attn_output.bias").has_value();
  const std::int64_t layers = s.get_int("block_count", limit::layers);
  for (std::int64_t i = 0; i < layers; ++i)
    d.blocks.push_back({d.hidden, d.norm_epsilon, a, read_mlp(s, file, d.family, "blk." + std::to_string(i) + ".")});
  d.rope = read_rope(s, file, a.head_dim, d.context);
  d.eos_ids = read_eos_ids(metadata, d.family);
  check_decoder_config(d, file.where());
  return d;
}

} // namespace omni
