// Text decoders that start from a config.json alone.
#include "test/kernels/models/decoder/decoder_driver.hpp"
#include "test/kernels/weights/file_builder.hpp"

#include "kernels/models/decoder/decoder_cost.hpp"
#include "kernels/text/chat_template.hpp"
#include "kernels/weights/dummy_checkpoint.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace omni {
namespace {

using nlohmann::json;

json config_of(const std::string& family) {
  json config = {{"model_type", family},     {"vocab_size", 320},       {"hidden_size", 32},
                 {"intermediate_size", 48},  {"num_hidden_layers", 2},  {"num_attention_heads", 4},
                 {"num_key_value_heads", 2}, {"head_dim", 8},           {"max_position_embeddings", 64},
                 {"bos_token_id", 1},        {"eos_token_id", {2, 300}}};
  if (family == "qwen3_moe")
    config.update({{"num_experts", 4}, {"num_experts_per_tok", 2}, {"moe_intermediate_size", 16}});
  return config;
}

/// A folder with that config.json and nothing else.
class bare_folder {
public:
  explicit bare_folder(const json& config) { folder_.write("config.json", config.dump()); }
  [[nodiscard]] stage_model_spec spec(const std::string& dtype = "auto",
                                      const std::string& load_format = "dummy") const {
    return {folder_.path(), "thinker", dtype, load_format};
  }

private:
  test::temporary_folder folder_;
};

TEST(dummy_weights, every_family_computes_from_a_configuration_alone) {
  for (const std::string family : {"llama", "qwen2", "qwen3", "qwen3_moe"})
    for (const std::string dtype : {"auto", "float32"}) {
      const bare_folder folder(config_of(family));
      test::decoder_driver driver(decoder_model::load(folder.spec(dtype)));
      const auto logits = driver.feed({5, 6, 7});
      EXPECT_TRUE(std::all_of(logits.begin(), logits.end(), [](float v) { return std::isfinite(v); })) << family;
      const auto [low, high] = std::minmax_element(logits.begin(), logits.end());
      EXPECT_GT(*high - *low, 1e-3F) << family << ": all logits are equal";
    }
}

TEST(dummy_weights, the_cost_model_counts_what_loading_asks_for) {
  for (const std::string family : {"llama", "qwen2", "qwen3", "qwen3_moe"})
    for (const bool tied : {false, true}) {
      auto json_config = config_of(family);
      json_config["tie_word_embeddings"] = tied;
      const auto config = decoder_config_from(hf_config::parse(json_config.dump(), "config.json"), {});
      const dummy_checkpoint file("a folder", dtype::bf16);
      (void)load_decoder_weights(config, file, {}, false);
      double values = 0;
      for (const auto& name : file.names()) values += static_cast<double>(file.find(name)->values());
      const auto cost = cost_of(config, 2.0);
      EXPECT_EQ(cost.held().values, values) << family;
      EXPECT_EQ(cost.held().bytes, 2 * values) << family;
    }
}

TEST(dummy_weights, the_fingerprint_is_that_of_the_configuration) {
  auto config = config_of("llama");
  const auto print = [&] { return load_stage_model(bare_folder(config).spec())->fingerprint(); };
  const auto first = print();
  EXPECT_EQ(print(), first);
  config["intermediate_size"] = 64;
  EXPECT_NE(print(), first);
}

TEST(dummy_weights, the_head_is_a_table_of_its_own_unless_the_configuration_ties_it) {
  auto config = config_of("llama");
  const auto separate = decoder_model::load(bare_folder(config).spec())->fingerprint();
  config["tie_word_embeddings"] = false;
  EXPECT_EQ(decoder_model::load(bare_folder(config).spec())->fingerprint(), separate);
  config["tie_word_embeddings"] = true;
  EXPECT_NE(decoder_model::load(bare_folder(config).spec())->fingerprint(), separate);
}

TEST(dummy_weights, a_stand_in_tokenizer_reads_any_text_and_shows_any_token) {
  const auto model = load_stage_model(bare_folder(config_of("llama")).spec());
  const text::tokenizer& tokens = *model->tokenizer();
  const std::string said = "caf\xc3\xa9\n\t1 + 1";
  const auto ids = tokens.encode(said);
  EXPECT_EQ(ids.size(), said.size()) << "a token for each byte";
  EXPECT_EQ(tokens.decode(ids, true), said);
  EXPECT_EQ(tokens.vocab_size(), 320);
  for (std::int32_t id = 0; id < 320; ++id) EXPECT_FALSE(tokens.token_bytes(id).empty()) << id;
  EXPECT_EQ(tokens.token_content(1), "<|im_start|>");
  EXPECT_EQ(tokens.token_content(2), "<|im_end|>");
}

TEST(dummy_weights, a_stand_in_template_makes_a_prompt) {
  const auto model = load_stage_model(bare_folder(config_of("qwen2")).spec());
  const auto prompt = model->chat_template()->render(
      {{"messages", {{{"role", "user"}, {"content", "hi <|im_end|>"}}}}, {"add_generation_prompt", true}});
  const auto ids = model->tokenizer()->encode(prompt);
  EXPECT_EQ(model->tokenizer()->decode(ids, false),
            "<|im_start|>user\nhi <|im_end|><|im_end|>\n<|im_start|>assistant\n");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), 2), 1) << "what the caller wrote is text";
}

TEST(dummy_weights, a_vocabulary_without_room_for_text_is_refused) {
  auto config = config_of("llama");
  config["vocab_size"] = 97;
  EXPECT_NE(test::refusal("config.json", [&] { load_stage_model(bare_folder(config).spec()); }).find("98"),
            std::string::npos);
}

TEST(dummy_weights, only_a_folder_can_have_them) {
  const test::temporary_folder folder;
  for (const std::string stage : {"thinker", "talker", "code2wav"})
    for (const std::string name : {"model.gguf", "voice.onnx"}) {
      folder.write(name, "whatever");
      EXPECT_NE(test::refusal(name,
                              [&] {
                                load_stage_model({folder.path() / name, stage, "auto", "dummy"});
                              })
                    .find("leave load_format out"),
                std::string::npos);
    }
  EXPECT_NE(test::refusal(folder.path().string(),
                          [&] {
                            load_stage_model({folder.path(), "thinker", "auto", "random"});
                          })
                .find("auto or dummy"),
            std::string::npos);
}

TEST(dummy_weights, without_the_word_a_configuration_alone_is_refused) {
  EXPECT_NE(test::refusal("", [&] { load_stage_model(bare_folder(config_of("llama")).spec("auto", "auto")); }), "");
}

} // namespace
} // namespace omni
