#include "kernels/models/decoder/decoder_weights.hpp"

#include "kernels/weights/convert.hpp"

#include <algorithm>
#include <span>

namespace omni {
namespace {

using enum decoder_tensor;

/// Reads one layer of a decoder.
class block_reader {
public:
  block_reader(const decoder_config& config, weight_reader& from, const tensor_names& names, std::int64_t layer)
      : config_(config), from_(from), names_(names), layer_(layer) {}

  [[nodiscard]] block_weights read(const block_config& b) {
    block_weights w;
    w.attention_norm = from_.floats(name(attention_norm) + ".weight", {b.hidden});
    w.attention = attention(b);
    w.mlp_norm = from_.floats(name(mlp_norm) + ".weight", {b.hidden});
    w.mlp = b.mlp.experts == 0 ? dense(b) : experts(b);
    return w;
  }

private:
  [[nodiscard]] std::string name(decoder_tensor which, std::int64_t expert = 0) const {
    return tensor_name(which, names_, layer_, expert);
  }

  attention_weights attention(const block_config& b) {
    const auto& a = b.attention;
    attention_weights w;
    w.query = rotated(query, a.heads, b.hidden, a);
    w.key = rotated(key, a.kv_heads, b.hidden, a);
    w.value = from_.linear(name(value), a.kv_heads * a.head_dim, b.hidden, a.qkv_bias);
    w.out = last(attention_out, attention_scale, b, a.heads * a.head_dim, a.out_bias);
    if (!a.qk_norm) return w;
    w.query_norm = from_.floats(name(query_norm) + ".weight", {a.head_dim});
    w.key_norm = from_.floats(name(key_norm) + ".weight", {a.head_dim});
    return w;
  }

  /// q or k, whose rows GGUF `llama` files keep in another order.
  linear_weights rotated(decoder_tensor which, std::int64_t heads, std::int64_t in, const attention_config& a) {
    const std::int64_t out = heads * a.head_dim;
    if (!config_.permuted_qk) return from_.linear(name(which), out, in, a.qkv_bias);
    linear_weights w{from_.pack(in_order(from_.file().get(name(which) + ".weight", {out, in}), a.head_dim)), nullptr};
    if (!a.qkv_bias) return w;
    const tensor bias = from_.file().get(name(which) + ".bias", {out});
    w.bias = from_.keep(in_order(tensor(bias.data, bias.type, {out, 1}), a.head_dim));
    return w;
  }

  /// The rows in the order that rope wants; valid until the next call.
  tensor in_order(const tensor& from, std::int64_t head_dim) {
    reordered_.resize(static_cast<std::size_t>(from.bytes()));
    unpermute_rows(from, head_dim, reordered_);
    return {reordered_.data(), from.type, from.extents};
  }

  /// The last matrix of attention or MLP. A layer scale is multiplied into its rows, in F32.
  linear_weights last(decoder_tensor which, decoder_tensor scale, const block_config& b, std::int64_t in, bool bias) {
    if (!b.layer_scale) return from_.linear(name(which), b.hidden, in, bias);
    const float* const factors = from_.floats(name(scale) + ".scale", {b.hidden});
    std::vector<float> values(static_cast<std::size_t>(b.hidden * in));
    read_f32(from_.file().get(name(which) + ".weight", {b.hidden, in}), values);
    for (std::int64_t i = 0; i < b.hidden * in; ++i) values[static_cast<std::size_t>(i)] *= factors[i / in];
    return {from_.pack(tensor(values.data(), {b.hidden, in})), nullptr};
  }

  mlp_weights dense(const block_config& b) {
    const auto& m = b.mlp;
    mlp_weights w;
    w.dense.gate = from_.linear(name(gate), m.width, b.hidden, m.bias);
    w.dense.up = from_.linear(name(up), m.width, b.hidden, m.bias);
    w.dense.down = last(down, mlp_scale, b, m.width, m.bias);
    return w;
  }

  mlp_weights experts(const block_config& b) {
    const auto& m = b.mlp;
    mlp_weights w;
    w.router = from_.linear(name(router), m.experts, b.hidden, false);
    for (std::int64_t e = 0; e < m.experts; ++e) w.experts.push_back(expert(b, e));
    if (m.shared_width == 0) return w;
    w.shared = {from_.linear(name(shared_gate), m.shared_width, b.hidden, false),
                from_.linear(name(shared_up), m.shared_width, b.hidden, false),
                from_.linear(name(shared_down), b.hidden, m.shared_width, false)};
    w.shared_gate = from_.linear(name(shared_expert_gate), 1, b.hidden, false);
    return w;
  }

  /// One expert: tensors of its own, or parts of the layer's. transformers 5 keeps gate and up in one tensor.
  gated_mlp_weights expert(const block_config& b, std::int64_t e) {
    const std::int64_t all = b.mlp.experts, width = b.mlp.width;
    if (names_.style == name_style::gguf)
      return {{from_.part_of(name(expert_gate) + ".weight", {all, width, b.hidden}, e * width, width), nullptr},
              {from_.part_of(name(expert_up) + ".weight", {all, width, b.hidden}, e * width, width), nullptr},
              {from_.part_of(name(expert_down) + ".weight", {all, b.hidden, width}, e * b.hidden, b.hidden), nullptr}};
    if (from_.has(name(fused_gate_up)))
      return {{from_.part_of(name(fused_gate_up), {all, 2 * width, b.hidden}, 2 * e * width, width), nullptr},
              {from_.part_of(name(fused_gate_up), {all, 2 * width, b.hidden}, (2 * e + 1) * width, width), nullptr},
              {from_.part_of(name(fused_down), {all, b.hidden, width}, e * b.hidden, b.hidden), nullptr}};
    return {from_.linear(name(expert_gate, e), width, b.hidden, false),
            from_.linear(name(expert_up, e), width, b.hidden, false),
            from_.linear(name(expert_down, e), b.hidden, width, false)};
  }

  const decoder_config& config_;
  weight_reader& from_;
  const tensor_names& names_;
  std::int64_t layer_;
  std::vector<std::byte> reordered_;
};

void mix(std::uint64_t& hash, std::span<const std::byte> bytes) {
  for (const auto b : bytes) hash = (hash ^ static_cast<std::uint64_t>(b)) * 0x100000001b3U; // FNV-1a
}

} // namespace

void read_decoder_blocks(const decoder_config& config, weight_reader& from, const tensor_names& names,
                         decoder_weights& to) {
  for (std::size_t i = 0; i < config.blocks.size(); ++i)
    to.blocks.push_back(block_reader(config, from, names, static_cast<std::int64_t>(i)).read(config.blocks[i]));
  to.final_norm = from.floats(tensor_name(final_norm, names) + ".weight", {config.hidden});
}

decoder_weights load_decoder_weights(const decoder_config& config, const checkpoint& file, const tensor_names& names,
                                     bool as_f32) {
  decoder_weights w;
  weight_reader from(file, as_f32, w.arena);
  w.embedding = from.matrix(tensor_name(embedding, names), config.vocab, config.hidden);
  read_decoder_blocks(config, from, names, w);
  const std::string head_name = tensor_name(head, names);
  const bool tied = config.tied.value_or(!from.has(head_name + ".weight"));
  w.head = tied ? w.embedding : from.matrix(head_name, config.vocab, config.hidden);
  return w;
}

std::uint64_t fingerprint_of(const checkpoint& file) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const auto& name : file.names()) {
    const tensor t = *file.find(name);
    mix(hash, std::as_bytes(std::span(name)));
    const std::string form = std::string(info(t.type).name) + to_string(t.extents);
    mix(hash, std::as_bytes(std::span(form)));
    constexpr std::int64_t sample = 64;
    const std::int64_t bytes = t.bytes();
    for (const std::int64_t at : {std::int64_t{0}, bytes / 2, std::max<std::int64_t>(0, bytes - sample)})
      mix(hash, {static_cast<const std::byte*>(t.data) + at, static_cast<std::size_t>(std::min(sample, bytes - at))});
  }
  return hash;
}

} // namespace omni
