// The default thinker with its real weights; bounds are those of golden/smollm2-q4_1/README.md.
#include "kernels/text/chat_template.hpp"
#include "kernels/text/tokenizer.hpp"
#include "kernels/weights/convert.hpp"
#include "test/kernels/models/decoder/decoder_driver.hpp"
#include "test/support/default_models.hpp"
#include "test/support/golden.hpp"
#include "test/support/golden_case.hpp"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>

namespace omni {
namespace {

using test::decoder_driver;
using test::golden_case;

const std::string folder = "smollm2-q4_1";

std::shared_ptr<const decoder_model> load(const std::string& dtype_name) {
  return decoder_model::load({test::default_model("SmolLM2-135M-Instruct.Q4_1.gguf"), "thinker", dtype_name});
}

std::vector<std::int32_t> ids_of(const golden_case& golden, const std::string& name) {
  const tensor t = golden.tensors().find(name).value();
  EXPECT_EQ(t.type, dtype::i64);
  std::vector<std::int64_t> wide(static_cast<std::size_t>(t.values()));
  std::memcpy(wide.data(), t.data, wide.size() * sizeof(std::int64_t));
  return {wide.begin(), wide.end()};
}

std::vector<float> less_mean(std::vector<float> x) {
  double sum = 0;
  for (const float v : x) sum += static_cast<double>(v);
  const auto mean = static_cast<float>(sum / static_cast<double>(x.size()));
  for (float& v : x) v -= mean;
  return x;
}

double centred_l2(const std::vector<float>& found, const std::vector<float>& expected) {
  const auto a = less_mean(found), b = less_mean(expected);
  return test::relative_l2(a.data(), b.data(), static_cast<std::int64_t>(b.size()));
}

std::vector<golden_case> prompts() {
  std::vector<golden_case> cases;
  for (const auto& path : test::golden_files(folder, ".safetensors")) cases.emplace_back(path);
  return cases;
}

/// Feeds the prompt with the reference's reply, and compares choices wherever the reference was sure.
void expect_forced(const decoder_model& model, decoder_driver& driver, const golden_case& golden, double bound) {
  auto ids = ids_of(golden, "ids");
  const auto reply = ids_of(golden, "greedy");
  const auto margin = golden.f32("margin");
  const tensor forced = golden.tensors().find("logits_forced").value();
  std::vector<float> expected(static_cast<std::size_t>(forced.values()));
  read_f32(forced, expected);
  const auto last_of_prompt = ids.size() - 1;
  ids.insert(ids.end(), reply.begin(), reply.end() - 1);
  const auto all = driver.feed(ids);
  const auto row = [vocab = model.config().vocab](const std::vector<float>& rows, std::size_t i) {
    const auto at = rows.begin() + static_cast<std::ptrdiff_t>(i) * vocab;
    return std::vector<float>(at, at + vocab);
  };
  EXPECT_LE(centred_l2(row(all, last_of_prompt), golden.f32("logits_first")), bound);
  for (std::size_t i = 0; i < reply.size(); ++i) {
    SCOPED_TRACE("token " + std::to_string(i));
    const auto logits = row(all, last_of_prompt + i);
    if (margin[i] > 0.2F) {
      EXPECT_EQ(test::best_of(logits), reply[i]);
    }
    // What the file keeps of these is rounded to halves.
    if (static_cast<std::int64_t>(i) < forced.extents[0]) {
      EXPECT_LE(centred_l2(logits, row(expected, i)), bound + 1e-3);
    }
  }
}

TEST(golden_smollm2, tokens_and_text_are_those_of_the_reference) {
  const auto model = load("auto");
  std::ifstream file(test::golden_dir() / folder / "tokenizer.json");
  for (const auto& entry : nlohmann::json::parse(file)) {
    const std::string text = entry.at("text");
    SCOPED_TRACE(text);
    const auto ids = entry.at("ids").get<std::vector<std::int32_t>>();
    EXPECT_EQ(model->tokenizer()->encode(text), ids);
    EXPECT_EQ(model->tokenizer()->decode(ids, false), entry.at("decoded").get<std::string>());
  }
}

TEST(golden_smollm2, messages_become_the_prompts_of_the_reference) {
  const auto model = load("auto");
  ASSERT_NE(model->chat_template(), nullptr);
  for (const auto& golden : prompts()) {
    SCOPED_TRACE(golden.name());
    const auto prompt = model->chat_template()->render(
        {{"messages", nlohmann::ordered_json(golden.json().at("messages"))}, {"add_generation_prompt", true}});
    EXPECT_EQ(prompt.text(), golden.json().at("prompt").get<std::string>());
    EXPECT_EQ(model->tokenizer()->encode(prompt), ids_of(golden, "ids"));
  }
}

TEST(golden_smollm2, float32_agrees_with_the_reference) {
  const auto model = load("float32");
  for (const auto& golden : prompts()) {
    SCOPED_TRACE(golden.name());
    decoder_driver driver(model), again(model);
    expect_forced(*model, driver, golden, 1e-4);
    again.watch();
    again.feed(ids_of(golden, "ids"));
    const auto hidden = golden.f32("hidden_after_layer_0");
    EXPECT_LE(test::relative_max(again.seen.at("layers.0.hidden").data(), hidden.data(),
                                 static_cast<std::int64_t>(hidden.size())),
              1e-4);
    const auto norm = golden.f32("hidden_final_norm_last");
    const auto& all = again.seen.at("final_norm");
    EXPECT_LE(
        test::relative_max(all.data() + all.size() - norm.size(), norm.data(), static_cast<std::int64_t>(norm.size())),
        1e-4);
  }
}

TEST(golden_smollm2, eight_bit_activations_keep_the_reply) {
  const auto model = load("auto");
  for (const auto& golden : prompts()) {
    SCOPED_TRACE(golden.name());
    decoder_driver driver(model);
    expect_forced(*model, driver, golden, 5e-2);
  }
}

} // namespace
} // namespace omni
