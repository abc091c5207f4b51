#include "kernels/models/decoder/weight_names.hpp"

#include "kernels/core/check.hpp"

#include <string_view>

namespace omni {
namespace {

struct row {
  decoder_tensor which;
  std::string_view hugging_face; // below the root; L: layer, E: expert
  std::string_view gguf;
};

constexpr row table[] = {
    {decoder_tensor::embedding, "embed_tokens", "token_embd"},
    {decoder_tensor::attention_norm, "layers.L.input_layernorm", "blk.L.attn_norm"},
    {decoder_tensor::query, "layers.L.self_attn.q_proj", "blk.L.attn_q"},
    {decoder_tensor::key, "layers.L.self_attn.k_proj", "blk.L.attn_k"},
    {decoder_tensor::value, "layers.L.self_attn.v_proj", "blk.L.attn_v"},
    {decoder_tensor::attention_out, "layers.L.self_attn.o_proj", "blk.L.attn_output"},
    {decoder_tensor::attention_scale, "layers.L.self_attn_layer_scale", ""},
    {decoder_tensor::query_norm, "layers.L.self_attn.q_norm", "blk.L.attn_q_norm"},
    {decoder_tensor::key_norm, "layers.L.self_attn.k_norm", "blk.L.attn_k_norm"},
    {decoder_tensor::mlp_norm, "layers.L.post_attention_layernorm", "blk.L.ffn_norm"},
    {decoder_tensor::gate, "layers.L.mlp.gate_proj", "blk.L.ffn_gate"},
    {decoder_tensor::up, "layers.L.mlp.up_proj", "blk.L.ffn_up"},
    {decoder_tensor::down, "layers.L.mlp.down_proj", "blk.L.ffn_down"},
    {decoder_tensor::mlp_scale, "layers.L.mlp_layer_scale", ""},
    {decoder_tensor::router, "layers.L.mlp.gate", "blk.L.ffn_gate_inp"},
    {decoder_tensor::expert_gate, "layers.L.mlp.experts.E.gate_proj", "blk.L.ffn_gate_exps"},
    {decoder_tensor::expert_up, "layers.L.mlp.experts.E.up_proj", "blk.L.ffn_up_exps"},
    {decoder_tensor::expert_down, "layers.L.mlp.experts.E.down_proj", "blk.L.ffn_down_exps"},
    {decoder_tensor::fused_gate_up, "layers.L.mlp.experts.gate_up_proj", ""},
    {decoder_tensor::fused_down, "layers.L.mlp.experts.down_proj", ""},
    {decoder_tensor::shared_gate, "layers.L.mlp.shared_expert.gate_proj", ""},
    {decoder_tensor::shared_up, "layers.L.mlp.shared_expert.up_proj", ""},
    {decoder_tensor::shared_down, "layers.L.mlp.shared_expert.down_proj", ""},
    {decoder_tensor::shared_expert_gate, "layers.L.mlp.shared_expert_gate", ""},
    {decoder_tensor::final_norm, "norm", "output_norm"},
    {decoder_tensor::head, "", "output"},
};

void put_number(std::string& name, std::string_view mark, std::int64_t number) {
  const auto at = name.find(mark);
  if (at != std::string::npos) name.replace(at + 1, 1, std::to_string(number));
}

} // namespace

std::string tensor_name(decoder_tensor which, const tensor_names& names, std::int64_t layer, std::int64_t expert) {
  if (which == decoder_tensor::head && names.style == name_style::hugging_face) return names.head;
  for (const auto& r : table) {
    if (r.which != which) continue;
    std::string name =
        names.style == name_style::gguf ? std::string(r.gguf) : names.root + "." + std::string(r.hugging_face);
    put_number(name, ".L.", layer);
    put_number(name, ".E.", expert);
    return name;
  }
  OMNI_CHECK(false, "every tensor has a name");
  return {};
}

} // namespace omni
