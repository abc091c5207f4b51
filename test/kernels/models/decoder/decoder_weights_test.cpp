#include "kernels/models/decoder/decoder_weights.hpp"

#include "kernels/core/error.hpp"
#include "test/support/random_floats.hpp"

#include <cstring>
#include <deque>
#include <functional>
#include <gtest/gtest.h>

namespace omni {
namespace {

using test::random_floats;

/// A checkpoint in memory.
class memory_checkpoint final : public mapped_checkpoint {
public:
  memory_checkpoint() : mapped_checkpoint("tiny") {}
  void put(const std::string& name, const shape& extents, std::vector<float> values) {
    values_.push_back(std::move(values));
    add(name, tensor(values_.back().data(), extents));
  }

private:
  std::deque<std::vector<float>> values_;
};

decoder_config small_config(bool moe) {
  decoder_config d;
  d.family = moe ? "qwen3_moe" : "llama";
  d.vocab = 20;
  d.hidden = 12;
  d.context = 64;
  block_config b;
  b.hidden = 12;
  b.attention = {
      .heads = 2, .kv_heads = 1, .head_dim = 6, .qkv_bias = true, .out_bias = false, .qk_norm = false, .window = 0};
  b.mlp.width = 10;
  if (moe) {
    b.mlp.experts = 3;
    b.mlp.top = 2;
  }
  d.blocks.push_back(b);
  return d;
}

/// Row 2i+j of a head of GGUF's `llama` is row j * dims/2 + i of Hugging Face.
std::vector<float> permuted(const std::vector<float>& x, std::int64_t heads, std::int64_t dims) {
  std::vector<float> y(x.size());
  const auto columns = static_cast<std::int64_t>(x.size()) / (heads * dims);
  for (std::int64_t h = 0; h < heads; ++h)
    for (std::int64_t i = 0; i < dims / 2; ++i)
      for (std::int64_t j = 0; j < 2; ++j)
        std::copy_n(x.begin() + (h * dims + j * dims / 2 + i) * columns, columns,
                    y.begin() + (h * dims + 2 * i + j) * columns);
  return y;
}

/// The same random weights under the names and in the order of either kind of file. `change` may alter shape or values
/// of a tensor, or drop it by returning false.
using change_function = std::function<bool(const std::string& name, shape& extents)>;
memory_checkpoint make_file(const decoder_config& d, name_style style, bool with_head,
                            const change_function& change = {}) {
  memory_checkpoint file;
  std::uint32_t seed = 0;
  const bool gguf = style == name_style::gguf;
  const auto put = [&](const std::string& name, shape extents, std::int64_t heads = 0) {
    auto values = random_floats(extents.values(), ++seed);
    if (gguf && heads > 0) values = permuted(values, heads, 6);
    if (change && !change(name, extents)) return;
    values.resize(static_cast<std::size_t>(extents.values()));
    file.put(name, extents, std::move(values));
  };
  using enum decoder_tensor;
  const auto name = [&](decoder_tensor t, std::int64_t expert = 0) { return tensor_name(t, style, 0, expert); };
  put(name(embedding) + ".weight", {20, 12});
  put(name(attention_norm) + ".weight", {12});
  put(name(query) + ".weight", {12, 12}, 2);
  put(name(query) + ".bias", {12}, 2);
  put(name(key) + ".weight", {6, 12}, 1);
  put(name(key) + ".bias", {6}, 1);
  put(name(value) + ".weight", {6, 12});
  put(name(value) + ".bias", {6});
  put(name(attention_out) + ".weight", {12, 12});
  put(name(mlp_norm) + ".weight", {12});
  if (d.blocks[0].mlp.experts == 0) {
    put(name(gate) + ".weight", {10, 12});
    put(name(up) + ".weight", {10, 12});
    put(name(down) + ".weight", {12, 10});
  } else {
    put(name(router) + ".weight", {3, 12});
    for (const auto& [which, out, in] :
         {std::tuple(expert_gate, 10, 12), std::tuple(expert_up, 10, 12), std::tuple(expert_down, 12, 10)}) {
      std::vector<float> all;
      for (std::int64_t e = 0; e < 3; ++e) {
        const auto values = random_floats(out * in, ++seed);
        all.insert(all.end(), values.begin(), values.end());
        if (!gguf) file.put(name(which, e) + ".weight", {out, in}, values);
      }
      if (gguf) file.put(name(which) + ".weight", {3, out, in}, all);
    }
  }
  put(name(final_norm) + ".weight", {12});
  if (with_head) put(name(head) + ".weight", {20, 12});
  return file;
}

bool same(const packed_weight& a, const packed_weight& b) {
  return a.rows == b.rows && a.columns == b.columns && a.format == b.format &&
         std::memcmp(a.data, b.data, static_cast<std::size_t>(a.bytes())) == 0;
}

std::string problem_of(const decoder_config& d, const memory_checkpoint& file) {
  try {
    (void)load_decoder_weights(d, file, name_style::hugging_face, false);
  } catch (const load_error& e) {
    return e.what();
  }
  return "none";
}

TEST(decoder_weights, are_the_same_from_both_kinds_of_files) {
  for (const bool moe : {false, true}) {
    auto config = small_config(moe);
    const auto hf = load_decoder_weights(config, make_file(config, name_style::hugging_face, true),
                                         name_style::hugging_face, false);
    config.permuted_qk = true;
    const auto gguf = load_decoder_weights(config, make_file(config, name_style::gguf, true), name_style::gguf, false);
    const auto &a = hf.blocks[0], &b = gguf.blocks[0];
    EXPECT_TRUE(same(a.attention.query.weight, b.attention.query.weight));
    EXPECT_TRUE(same(a.attention.key.weight, b.attention.key.weight));
    EXPECT_TRUE(same(a.attention.value.weight, b.attention.value.weight));
    EXPECT_EQ(std::memcmp(a.attention.query.bias, b.attention.query.bias, 12 * sizeof(float)), 0);
    EXPECT_TRUE(same(hf.head, gguf.head));
    ASSERT_EQ(a.mlp.experts.size(), moe ? 3U : 0U);
    for (std::size_t e = 0; e < a.mlp.experts.size(); ++e) {
      EXPECT_TRUE(same(a.mlp.experts[e].gate.weight, b.mlp.experts[e].gate.weight));
      EXPECT_TRUE(same(a.mlp.experts[e].down.weight, b.mlp.experts[e].down.weight));
    }
  }
}

TEST(decoder_weights, share_the_embedding_with_a_tied_head) {
  auto config = small_config(false);
  const auto load = [&](bool with_head) {
    return load_decoder_weights(config, make_file(config, name_style::hugging_face, with_head),
                                name_style::hugging_face, false);
  };
  const auto shared = [](const decoder_weights& w) { return w.head.data == w.embedding.data; };
  EXPECT_TRUE(shared(load(false))); // nothing said: as the file has it
  EXPECT_FALSE(shared(load(true)));
  config.tied = true;
  EXPECT_TRUE(shared(load(true))); // a stored copy is not needed
  config.tied = false;
  EXPECT_EQ(problem_of(config, make_file(config, name_style::hugging_face, false)),
            "tiny: expected a tensor 'lm_head.weight' of shape [20, 12], found none of that name.");
}

TEST(decoder_weights, name_what_is_missing_or_misshapen) {
  const auto config = small_config(false);
  EXPECT_EQ(problem_of(config, make_file(config, name_style::hugging_face, false,
                                         [](const std::string& name, shape&) {
                                           return name != "model.layers.0.self_attn.k_proj.bias";
                                         })),
            "tiny: expected a tensor 'model.layers.0.self_attn.k_proj.bias' of shape [6], found none of that name.");
  EXPECT_EQ(problem_of(config, make_file(config, name_style::hugging_face, false,
                                         [](const std::string& name, shape& extents) {
                                           if (name == "model.layers.0.mlp.up_proj.weight") extents = {11, 12};
                                           return true;
                                         })),
            "tiny: expected tensor 'model.layers.0.mlp.up_proj.weight' of shape [10, 12], found [11, 12].");
}

TEST(decoder_weights, have_a_fingerprint_of_names_shapes_and_bytes) {
  const auto config = small_config(false);
  const auto file = [&](const change_function& change = {}) {
    return make_file(config, name_style::hugging_face, false, change);
  };
  const auto print = fingerprint_of(file());
  EXPECT_EQ(fingerprint_of(file()), print);
  EXPECT_NE(fingerprint_of(file([](const std::string& name, shape&) { return name != "model.norm.weight"; })), print);
  EXPECT_NE(fingerprint_of(file([](const std::string&, shape& extents) {
              if (extents.rank() == 2) extents = {extents[1], extents[0]};
              return true;
            })),
            print);
  auto changed = file();
  changed.put("more", {1}, {1.0F});
  auto other = file();
  other.put("more", {1}, {2.0F});
  EXPECT_NE(fingerprint_of(changed), fingerprint_of(other));
}

} // namespace
} // namespace omni
