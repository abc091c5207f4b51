#include "kernels/models/decoder/decoder_config.hpp"

#include "kernels/weights/reject.hpp"

#include <algorithm>
#include <array>

namespace omni {
namespace {

namespace limit = decoder_limits;

constexpr std::array supported{"llama", "qwen2", "qwen3", "qwen3_moe"};

bool is_qwen3(const std::string& family) { return family == "qwen3" || family == "qwen3_moe"; }

rope_kind kind_of(const std::string& name, const std::string& where) {
  if (name == "default") return rope_kind::plain;
  if (name == "linear") return rope_kind::linear;
  if (name == "dynamic") return rope_kind::dynamic;
  if (name == "llama3") return rope_kind::llama3;
  if (name == "yarn") return rope_kind::yarn;
  reject(where,
         "the rope type " + shown(name) + " is not supported, expected default, linear, dynamic, llama3 or yarn");
}

std::optional<double> optional_float(const hf_config& c, const char* key) {
  return c.has(key) ? std::optional(c.required_float(key)) : std::nullopt;
}

/// Parts of rope that turn by time, height and width: `mrope_section`.
void read_sections(const std::optional<hf_config>& scaling, rope_config& r, const std::string& where) {
  if (!scaling || !scaling->has("mrope_section")) return;
  const auto sections = scaling->ints("mrope_section", {0, limit::head_dim.high});
  if (sections.size() != 3) reject(where, "mrope_section must have three numbers");
  if (!scaling->bool_or("interleaved", scaling->bool_or("mrope_interleaved", false)))
    reject(where, "only interleaved parts of rope (mrope_section with \"interleaved\": true) are supported");
  std::copy(sections.begin(), sections.end(), r.sections.begin());
}

/// `rope_parameters` (newer files, with theta inside) or `rope_scaling` beside `rope_theta`.
rope_config read_rope(const hf_config& c, std::int64_t head_dim, std::int64_t context) {
  rope_config r;
  const auto parameters = c.find_child("rope_parameters");
  const auto scaling = parameters ? parameters : c.find_child("rope_scaling");
  r.theta = c.float_or("rope_theta", 10000.0);
  double turning = c.float_or("partial_rotary_factor", 1.0);
  if (scaling) {
    const auto& s = *scaling;
    r.kind = kind_of(s.string_or("rope_type", s.string_or("type", "default")), c.where());
    r.theta = s.float_or("rope_theta", r.theta);
    turning = s.float_or("partial_rotary_factor", turning);
    if (r.kind != rope_kind::plain) r.factor = s.required_float("factor");
    r.original_context = s.int_or("original_max_position_embeddings", context, limit::context);
    r.low_frequency_factor = s.float_or("low_freq_factor", r.low_frequency_factor);
    r.high_frequency_factor = s.float_or("high_freq_factor", r.high_frequency_factor);
    r.beta_fast = s.float_or("beta_fast", r.beta_fast);
    r.beta_slow = s.float_or("beta_slow", r.beta_slow);
    r.whole_bounds = s.bool_or("truncate", true);
    r.attention_factor = optional_float(s, "attention_factor");
  }
  read_sections(scaling, r, c.where());
  // Scaling by sequence length begins where the model was trained to, whatever else the file says.
  if (r.kind == rope_kind::dynamic) r.original_context = context;
  if (!(turning > 0.0 && turning <= 1.0)) reject(c.where(), "partial_rotary_factor must lie in (0, 1]");
  r.dims = static_cast<std::int64_t>(static_cast<double>(head_dim) * turning);
  return r;
}

/// Window of one layer; only Qwen models with `use_sliding_window` have any.
std::int64_t window_of(const hf_config& c, std::int64_t layer, const std::vector<std::string>& types) {
  if (!c.bool_or("use_sliding_window", false) || !c.has("sliding_window")) return 0;
  const std::int64_t window = c.required_int("sliding_window", limit::context);
  if (!types.empty()) return types[static_cast<std::size_t>(layer)] == "sliding_attention" ? window : 0;
  return layer >= c.int_or("max_window_layers", 28) ? window : 0;
}

mlp_config read_mlp(const hf_config& c, const std::string& family, std::int64_t layer) {
  mlp_config m;
  m.bias = family == "llama" && c.bool_or("mlp_bias", false);
  const auto dense = c.ints("mlp_only_layers");
  const bool moe = family == "qwen3_moe" && std::find(dense.begin(), dense.end(), layer) == dense.end() &&
                   (layer + 1) % c.int_or("decoder_sparse_step", 1, {1, limit::layers.high}) == 0;
  if (!moe) {
    m.width = c.required_int("intermediate_size", limit::width);
    return m;
  }
  m.width = c.required_int("moe_intermediate_size", limit::width);
  m.experts =
      c.required_int(c.has("num_local_experts") ? "num_local_experts" : "num_experts", {1, limit::experts.high});
  m.top = c.required_int("num_experts_per_tok", {1, limit::experts.high});
  m.normalise_top = c.bool_or("norm_topk_prob", false);
  return m;
}

std::vector<std::int32_t> narrow(const std::vector<std::int64_t>& ids) { return {ids.begin(), ids.end()}; }

} // namespace

void reject_architecture(const std::string& where, const std::string& found) {
  std::string list;
  for (const char* name : supported) list += (list.empty() ? "" : ", ") + std::string(name);
  reject(where, "the architecture " + shown(found) + " is not supported; supported text decoders are " + list);
}

decoder_config inner_decoder_config(const hf_config& c, const std::string& family) {
  decoder_config d;
  d.family = family;
  if (c.has("quantization_config"))
    reject(c.where(), "quantised Hugging Face checkpoints are not supported; use the model in GGUF or unquantised");
  const std::string act = c.string_or("hidden_act", "silu");
  if (act != "silu") reject(c.where(), "hidden_act is " + shown(act) + ", only silu is supported");
  d.hidden = c.required_int("hidden_size", limit::width);
  d.context = c.required_int("max_position_embeddings", limit::context);
  d.norm_epsilon = static_cast<float>(c.float_or("rms_norm_eps", 1e-6));

  attention_config a;
  a.heads = c.required_int("num_attention_heads", limit::heads);
  a.kv_heads = c.int_or("num_key_value_heads", a.heads, limit::heads);
  a.head_dim = c.int_or("head_dim", is_qwen3(d.family) ? 128 : d.hidden / a.heads, limit::head_dim);
  a.qk_norm = is_qwen3(d.family);
  const bool bias = d.family != "qwen2" && c.bool_or("attention_bias", false);
  a.qkv_bias = bias || d.family == "qwen2";
  a.out_bias = bias;

  const std::int64_t layers = c.required_int("num_hidden_layers", limit::layers);
  const auto types = c.strings("layer_types");
  if (!types.empty() && static_cast<std::int64_t>(types.size()) != layers)
    reject(c.where(), "layer_types has " + std::to_string(types.size()) + " entries, expected one for each of the " +
                          std::to_string(layers) + " layers");
  for (std::int64_t i = 0; i < layers; ++i) {
    a.window = window_of(c, i, types);
    d.blocks.push_back({d.hidden, d.norm_epsilon, a, read_mlp(c, d.family, i)});
  }
  d.rope = read_rope(c, a.head_dim, d.context);
  check_decoder_config(d, c.where());
  return d;
}

decoder_config decoder_config_from(const hf_config& c, const std::optional<hf_config>& generation) {
  const std::string family = c.string_or("model_type", "");
  if (std::find(supported.begin(), supported.end(), family) == supported.end()) reject_architecture(c.where(), family);
  decoder_config d = inner_decoder_config(c, family);
  d.vocab = c.required_int("vocab_size", limit::vocab);
  if (c.has("tie_word_embeddings")) d.tied = c.required_bool("tie_word_embeddings");
  if (generation) d.eos_ids = narrow(generation->ints("eos_token_id"));
  if (d.eos_ids.empty()) d.eos_ids = narrow(c.ints("eos_token_id"));
  return d;
}

void check_decoder_config(const decoder_config& d, const std::string& where) {
  const auto& a = d.blocks.front().attention;
  if (a.heads % a.kv_heads != 0)
    reject(where, std::to_string(a.heads) + " attention heads cannot share " + std::to_string(a.kv_heads) +
                      " key-value heads evenly");
  const auto& r = d.rope;
  if (r.dims < 2 || r.dims % 2 != 0 || r.dims > a.head_dim)
    reject(where, "rope would turn " + std::to_string(r.dims) + " of " + std::to_string(a.head_dim) +
                      " dims of a head, expected an even number of at least 2");
  const bool scaled = r.kind == rope_kind::dynamic || r.kind == rope_kind::llama3 || r.kind == rope_kind::yarn;
  if (!(r.theta > 1.0) || !(r.factor > 0.0) || (scaled && r.original_context < 1))
    reject(where, "rope needs a theta above 1, a positive factor and the context that it scales");
  if (const auto& s = r.sections; s != std::array<std::int64_t, 3>{} && s[0] + s[1] + s[2] != r.dims / 2)
    reject(where, "mrope_section must sum to " + std::to_string(r.dims / 2) + ", the pairs that rope turns");
  if (r.kind == rope_kind::dynamic && r.dims < 4) reject(where, "dynamic rope needs at least 4 turning dims");
  if (r.kind == rope_kind::llama3 &&
      !(r.high_frequency_factor > r.low_frequency_factor && r.low_frequency_factor > 0.0))
    reject(where, "llama3 rope needs high_freq_factor > low_freq_factor > 0");
  if (r.kind == rope_kind::yarn && !(r.beta_fast > 0.0 && r.beta_slow > 0.0))
    reject(where, "yarn rope needs positive beta_fast and beta_slow");
  if (!(d.norm_epsilon >= 0.0F && d.norm_epsilon < 1.0F)) reject(where, "the norm epsilon must lie in [0, 1)");
  for (const auto& block : d.blocks)
    if (block.mlp.top > block.mlp.experts)
      reject(where, "a token would choose " + std::to_string(block.mlp.top) + " of " +
                        std::to_string(block.mlp.experts) + " experts");
}

} // namespace omni
