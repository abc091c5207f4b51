#include "kernels/models/decoder/decoder_weights.hpp"

#include "kernels/weights/convert.hpp"
#include "kernels/weights/reject.hpp"

#include <algorithm>
#include <span>

namespace omni {
namespace {

/// Reads the tensors of one checkpoint into one arena.
class weight_reader {
public:
  weight_reader(const decoder_config& config, const checkpoint& file, name_style style, bool as_f32,
                weight_arena& arena)
      : config_(config), file_(file), style_(style), as_f32_(as_f32), arena_(arena) {}

  [[nodiscard]] const float* floats(decoder_tensor which, std::int64_t layer, std::int64_t count) {
    return read_floats(tensor_name(which, style_, layer) + ".weight", count);
  }

  [[nodiscard]] packed_weight matrix(decoder_tensor which, std::int64_t layer, std::int64_t out, std::int64_t in) {
    return pack_weight(file_.get(tensor_name(which, style_, layer) + ".weight", {out, in}), as_f32_, arena_);
  }

  [[nodiscard]] linear_weights linear(decoder_tensor which, std::int64_t layer, std::int64_t out, std::int64_t in,
                                      bool bias) {
    linear_weights w{matrix(which, layer, out, in), nullptr};
    if (bias) w.bias = read_floats(tensor_name(which, style_, layer) + ".bias", out);
    return w;
  }

  /// q or k, whose rows GGUF `llama` files keep in another order.
  [[nodiscard]] linear_weights rotated(decoder_tensor which, std::int64_t layer, std::int64_t heads, std::int64_t in,
                                       const attention_config& a) {
    const std::int64_t out = heads * a.head_dim;
    if (!config_.permuted_qk) return linear(which, layer, out, in, a.qkv_bias);
    const std::string name = tensor_name(which, style_, layer);
    linear_weights w{pack_weight(in_order(file_.get(name + ".weight", {out, in}), a.head_dim), as_f32_, arena_),
                     nullptr};
    if (!a.qkv_bias) return w;
    const tensor bias = file_.get(name + ".bias", {out});
    w.bias = copy_floats(in_order(tensor(bias.data, bias.type, {out, 1}), a.head_dim));
    return w;
  }

  /// One expert's matrix: a tensor of its own, or a part of the layer's.
  [[nodiscard]] linear_weights expert(decoder_tensor which, std::int64_t layer, std::int64_t expert, std::int64_t out,
                                      std::int64_t in, std::int64_t experts) {
    const std::string name = tensor_name(which, style_, layer, expert) + ".weight";
    if (style_ == name_style::hugging_face) return {pack_weight(file_.get(name, {out, in}), as_f32_, arena_), nullptr};
    const tensor all = file_.get(name, {experts, out, in});
    auto* const first = static_cast<std::byte*>(all.data) + expert * out * row_bytes(all.type, in);
    return {pack_weight(tensor(first, all.type, {out, in}), as_f32_, arena_), nullptr};
  }

  [[nodiscard]] bool has(decoder_tensor which) const {
    return file_.find(tensor_name(which, style_) + ".weight").has_value();
  }

private:
  const float* copy_floats(const tensor& from) {
    const auto count = static_cast<std::size_t>(from.values());
    auto* const to = reinterpret_cast<float*>(arena_.take(count * sizeof(float)));
    read_f32(from, {to, count});
    return to;
  }
  const float* read_floats(const std::string& name, std::int64_t count) {
    return copy_floats(file_.get(name, {count}));
  }
  /// The rows in the order that rope wants; valid until the next call.
  tensor in_order(const tensor& from, std::int64_t head_dim) {
    reordered_.resize(static_cast<std::size_t>(from.bytes()));
    unpermute_rows(from, head_dim, reordered_);
    return {reordered_.data(), from.type, from.extents};
  }

  const decoder_config& config_;
  const checkpoint& file_;
  name_style style_;
  bool as_f32_;
  weight_arena& arena_;
  std::vector<std::byte> reordered_;
};

using enum decoder_tensor;

attention_weights read_attention(weight_reader& read, std::int64_t layer, const block_config& b) {
  const auto& a = b.attention;
  attention_weights w;
  w.query = read.rotated(query, layer, a.heads, b.hidden, a);
  w.key = read.rotated(key, layer, a.kv_heads, b.hidden, a);
  w.value = read.linear(value, layer, a.kv_heads * a.head_dim, b.hidden, a.qkv_bias);
  w.out = read.linear(attention_out, layer, b.hidden, a.heads * a.head_dim, a.out_bias);
  if (!a.qk_norm) return w;
  w.query_norm = read.floats(query_norm, layer, a.head_dim);
  w.key_norm = read.floats(key_norm, layer, a.head_dim);
  return w;
}

mlp_weights read_mlp(weight_reader& read, std::int64_t layer, const block_config& b) {
  const auto& m = b.mlp;
  mlp_weights w;
  if (m.experts == 0) {
    w.dense.gate = read.linear(gate, layer, m.width, b.hidden, m.bias);
    w.dense.up = read.linear(up, layer, m.width, b.hidden, m.bias);
    w.dense.down = read.linear(down, layer, b.hidden, m.width, m.bias);
    return w;
  }
  w.router = read.linear(router, layer, m.experts, b.hidden, false);
  for (std::int64_t e = 0; e < m.experts; ++e)
    w.experts.push_back({read.expert(expert_gate, layer, e, m.width, b.hidden, m.experts),
                         read.expert(expert_up, layer, e, m.width, b.hidden, m.experts),
                         read.expert(expert_down, layer, e, b.hidden, m.width, m.experts)});
  return w;
}

void mix(std::uint64_t& hash, std::span<const std::byte> bytes) {
  for (const auto b : bytes) hash = (hash ^ static_cast<std::uint64_t>(b)) * 0x100000001b3U; // FNV-1a
}

} // namespace

decoder_weights load_decoder_weights(const decoder_config& config, const checkpoint& file, name_style style,
                                     bool as_f32) {
  decoder_weights w;
  weight_reader read(config, file, style, as_f32, w.arena);
  w.embedding = read.matrix(embedding, 0, config.vocab, config.hidden);
  for (std::size_t i = 0; i < config.blocks.size(); ++i) {
    const auto layer = static_cast<std::int64_t>(i);
    const auto& b = config.blocks[i];
    block_weights block;
    block.attention_norm = read.floats(attention_norm, layer, b.hidden);
    block.attention = read_attention(read, layer, b);
    block.mlp_norm = read.floats(mlp_norm, layer, b.hidden);
    block.mlp = read_mlp(read, layer, b);
    w.blocks.push_back(std::move(block));
  }
  w.final_norm = read.floats(final_norm, 0, config.hidden);
  const bool tied = config.tied.value_or(!read.has(head));
  w.head = tied ? w.embedding : read.matrix(head, 0, config.vocab, config.hidden);
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
