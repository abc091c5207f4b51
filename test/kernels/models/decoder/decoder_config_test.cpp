#include "kernels/models/decoder/decoder_config.hpp"

#include "kernels/core/error.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace omni {
namespace {

using nlohmann::json;

json small(const std::string& family) {
  return {{"model_type", family},     {"vocab_size", 64},       {"hidden_size", 48},
          {"intermediate_size", 80},  {"num_hidden_layers", 4}, {"num_attention_heads", 6},
          {"num_key_value_heads", 2}, {"rms_norm_eps", 1e-5},   {"max_position_embeddings", 256},
          {"rope_theta", 20000.0},    {"eos_token_id", 3}};
}

decoder_config parse(const json& config, const json& generation = nullptr) {
  std::optional<hf_config> beside;
  if (!generation.is_null()) beside = hf_config::parse(generation.dump(), "generation_config.json");
  return decoder_config_from(hf_config::parse(config.dump(), "config.json"), beside);
}

/// The sentence of the `load_error` for a config that `change` spoiled.
std::string problem_of(json config, const std::function<void(json&)>& change) {
  change(config);
  try {
    parse(config);
  } catch (const load_error& e) {
    return e.what();
  }
  return "none";
}

TEST(decoder_config, reads_what_families_have_in_common) {
  const auto d = parse(small("llama"));
  EXPECT_EQ(d.vocab, 64);
  EXPECT_EQ(d.hidden, 48);
  EXPECT_EQ(d.context, 256);
  ASSERT_EQ(d.blocks.size(), 4U);
  const auto& a = d.blocks[2].attention;
  EXPECT_EQ(a.heads, 6);
  EXPECT_EQ(a.kv_heads, 2);
  EXPECT_EQ(a.head_dim, 8);
  EXPECT_EQ(d.blocks[2].mlp.width, 80);
  EXPECT_EQ(d.blocks[2].mlp.experts, 0);
  EXPECT_EQ(d.rope.theta, 20000.0);
  EXPECT_EQ(d.rope.dims, 8);
  EXPECT_EQ(d.eos_ids, std::vector<std::int32_t>{3});
  EXPECT_FALSE(d.tied.has_value());
}

TEST(decoder_config, knows_which_family_has_biases_and_norms) {
  const auto has = [](json config) {
    const auto a = parse(config).blocks.front().attention;
    return std::tuple(a.qkv_bias, a.out_bias, a.qk_norm);
  };
  EXPECT_EQ(has(small("llama")), std::tuple(false, false, false));
  EXPECT_EQ(has(small("qwen2")), std::tuple(true, false, false));
  EXPECT_EQ(has(small("qwen3")), std::tuple(false, false, true));
  auto biased = small("llama");
  biased["attention_bias"] = true;
  EXPECT_EQ(has(biased), std::tuple(true, true, false));
}

TEST(decoder_config, takes_eos_ids_of_the_generation_config_first) {
  EXPECT_EQ(parse(small("llama"), {{"eos_token_id", {7, 9}}}).eos_ids, (std::vector<std::int32_t>{7, 9}));
  EXPECT_EQ(parse(small("llama"), {{"do_sample", false}}).eos_ids, (std::vector<std::int32_t>{3}));
}

TEST(decoder_config, reads_rope_in_both_spellings) {
  auto config = small("llama");
  config["partial_rotary_factor"] = 0.5;
  config["rope_scaling"] = {{"type", "linear"}, {"factor", 4.0}};
  EXPECT_EQ(parse(config).rope.kind, rope_kind::linear);
  EXPECT_EQ(parse(config).rope.factor, 4.0);
  EXPECT_EQ(parse(config).rope.dims, 4);
  config = small("llama");
  config.erase("rope_theta");
  config["rope_parameters"] = {{"rope_type", "default"}, {"rope_theta", 5e5}};
  EXPECT_EQ(parse(config).rope.kind, rope_kind::plain);
  EXPECT_EQ(parse(config).rope.theta, 5e5);
}

TEST(decoder_config, gives_upper_layers_of_qwen2_a_window) {
  auto config = small("qwen2");
  config["sliding_window"] = 100;
  config["max_window_layers"] = 2;
  EXPECT_EQ(parse(config).blocks[3].attention.window, 0); // only if it is used
  config["use_sliding_window"] = true;
  const auto d = parse(config);
  EXPECT_EQ(d.blocks[1].attention.window, 0);
  EXPECT_EQ(d.blocks[2].attention.window, 100);
  config["layer_types"] = {"sliding_attention", "full_attention", "full_attention", "full_attention"};
  EXPECT_EQ(parse(config).blocks[0].attention.window, 100);
  EXPECT_EQ(parse(config).blocks[3].attention.window, 0);
}

TEST(decoder_config, mixes_dense_layers_and_experts) {
  auto config = small("qwen3_moe");
  config.update({{"moe_intermediate_size", 16},
                 {"num_experts", 8},
                 {"num_experts_per_tok", 2},
                 {"norm_topk_prob", true},
                 {"decoder_sparse_step", 2},
                 {"mlp_only_layers", {3}}});
  const auto d = parse(config);
  EXPECT_EQ(d.blocks[0].mlp.experts, 0); // (0 + 1) % 2
  EXPECT_EQ(d.blocks[1].mlp.experts, 8);
  EXPECT_EQ(d.blocks[1].mlp.width, 16);
  EXPECT_TRUE(d.blocks[1].mlp.normalise_top);
  EXPECT_EQ(d.blocks[3].mlp.experts, 0); // listed
  EXPECT_EQ(d.blocks[3].mlp.width, 80);
}

TEST(decoder_config, names_the_supported_architectures_when_it_meets_another) {
  EXPECT_EQ(problem_of(small("gpt2"), [](json&) {}), "config.json: the architecture 'gpt2' is not supported; supported "
                                                     "text decoders are llama, qwen2, qwen3, qwen3_moe.");
}

TEST(decoder_config, refuses_what_no_checkpoint_can_mean) {
  const auto expect = [](const std::string& part, const std::string& family, const std::function<void(json&)>& change) {
    const auto problem = problem_of(small(family), change);
    EXPECT_NE(problem.find(part), std::string::npos) << problem;
  };
  expect("hidden_size", "llama", [](json& c) { c["hidden_size"] = "many"; });
  expect("num_hidden_layers", "llama", [](json& c) { c["num_hidden_layers"] = 2000000000; });
  expect("num_attention_heads", "llama", [](json& c) { c["num_attention_heads"] = 0; });
  expect("share 4 key-value heads", "llama", [](json& c) { c["num_key_value_heads"] = 4; });
  expect("head_dim", "llama", [](json& c) { c["head_dim"] = 512; });
  expect("hidden_act is 'gelu'", "llama", [](json& c) { c["hidden_act"] = "gelu"; });
  expect("rope type 'longrope'", "llama", [](json& c) {
    c["rope_scaling"] = {{"rope_type", "longrope"}, {"factor", 2.0}};
  });
  expect("factor", "llama", [](json& c) { c["rope_scaling"] = {{"rope_type", "yarn"}}; });
  expect("positive factor", "llama", [](json& c) { c["rope_scaling"] = {{"rope_type", "linear"}, {"factor", -1.0}}; });
  expect("rope would turn 7", "llama", [](json& c) { c["head_dim"] = 7; });
  expect("layer_types has 1 entries", "qwen2", [](json& c) { c["layer_types"] = {"full_attention"}; });
  expect("choose 9 of 8 experts", "qwen3_moe", [](json& c) {
    c.update({{"moe_intermediate_size", 16}, {"num_experts", 8}, {"num_experts_per_tok", 9}});
  });
  expect("use the model in GGUF", "llama", [](json& c) { c["quantization_config"] = {{"quant_method", "awq"}}; });
  expect("epsilon", "llama", [](json& c) { c["rms_norm_eps"] = -1.0; });
}

} // namespace
} // namespace omni
