#include "kernels/models/decoder/weight_names.hpp"

#include "kernels/core/check.hpp"

#include <string_view>

namespace omni {
namespace {

struct row {
  decoder_tensor which;
  std::string_view hugging_face; // L: layer, E: expert
  std::string_view gguf;
};

constexpr row table[] = {
    {decoder_tensor::embedding, "model.embed_tokens", "token_embd"},
    {decoder_tensor::attention_norm, "model.layers.L.input_layernorm", "blk.L.attn_norm"},
    {decoder_tensor::query, "model.layers.L.self_attn.q_proj", "blk.L.attn_q"},
    {decoder_tensor::key, "model.layers.L.self_attn.k_proj", "blk.L.attn_k"},
    {decoder_tensor::value, "model.layers.L.self_attn.v_proj", "blk.L.attn_v"},
    {decoder_tensor::attention_out, "model.layers.L.self_attn.o_proj", "blk.L.attn_output"},
    {decoder_tensor::query_norm, "model.layers.L.self_attn.q_norm", "blk.L.attn_q_norm"},
    {decoder_tensor::key_norm, "model.layers.L.self_attn.k_norm", "blk.L.attn_k_norm"},
    {decoder_tensor::mlp_norm, "model.layers.L.post_attention_layernorm", "blk.L.ffn_norm"},
    {decoder_tensor::gate, "model.layers.L.mlp.gate_proj", "blk.L.ffn_gate"},
    {decoder_tensor::up, "model.layers.L.mlp.up_proj", "blk.L.ffn_up"},
    {decoder_tensor::down, "model.layers.L.mlp.down_proj", "blk.L.ffn_down"},
    {decoder_tensor::router, "model.layers.L.mlp.gate", "blk.L.ffn_gate_inp"},
    {decoder_tensor::expert_gate, "model.layers.L.mlp.experts.E.gate_proj", "blk.L.ffn_gate_exps"},
    {decoder_tensor::expert_up, "model.layers.L.mlp.experts.E.up_proj", "blk.L.ffn_up_exps"},
    {decoder_tensor::expert_down, "model.layers.L.mlp.experts.E.down_proj", "blk.L.ffn_down_exps"},
    {decoder_tensor::final_norm, "model.norm", "output_norm"},
    {decoder_tensor::head, "lm_head", "output"},
};

void put_number(std::string& name, std::string_view mark, std::int64_t number) {
  const auto at = name.find(mark);
  if (at != std::string::npos) name.replace(at + 1, 1, std::to_string(number));
}

} // namespace

std::string tensor_name(decoder_tensor which, name_style style, std::int64_t layer, std::int64_t expert) {
  for (const auto& r : table) {
    if (r.which != which) continue;
    std::string name(style == name_style::gguf ? r.gguf : r.hugging_face);
    put_number(name, ".L.", layer);
    put_number(name, ".E.", expert);
    return name;
  }
  OMNI_CHECK(false, "every tensor has a name");
  return {};
}

} // namespace omni
