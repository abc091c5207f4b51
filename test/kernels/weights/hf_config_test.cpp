#include "kernels/weights/hf_config.hpp"

#include "test/kernels/weights/file_builder.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace omni {
namespace {

using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

hf_config sample() {
  return hf_config::parse(R"({
    "hidden_size": 576, "pad_token_id": -1, "rope_theta": 100000, "eps": 1e-5, "huge": 18446744073709551615,
    "tied": true, "model_type": "llama", "eos_token_id": 2, "eos_list": [1, 2], "sections": [0.5, 1], "empty": [],
    "architectures": ["LlamaForCausalLM"], "rope_scaling": null,
    "text_config": {"layers": "many", "inner": {"x": [1, "y"]}}})",
                          "config.json");
}

TEST(hf_config, values_are_read_by_type) {
  const auto config = sample();
  EXPECT_EQ(config.required_int("hidden_size"), 576);
  EXPECT_EQ(config.required_int("pad_token_id", {-1, 100}), -1);
  EXPECT_EQ(config.required_float("rope_theta"), 100000);
  EXPECT_EQ(config.required_float("eps"), 1e-5);
  EXPECT_TRUE(config.required_bool("tied"));
  EXPECT_EQ(config.required_string("model_type"), "llama");
  EXPECT_THAT(config.ints("eos_list"), ElementsAre(1, 2));
  EXPECT_THAT(config.floats("sections"), ElementsAre(0.5, 1));
  EXPECT_THAT(config.strings("architectures"), ElementsAre("LlamaForCausalLM"));
  EXPECT_THAT(config.child("text_config").keys(), ElementsAre("inner", "layers"));
}

TEST(hf_config, a_single_value_counts_as_an_array_of_one) {
  EXPECT_THAT(sample().ints("eos_token_id"), ElementsAre(2));
  EXPECT_THAT(sample().strings("model_type"), ElementsAre("llama"));
}

TEST(hf_config, a_missing_or_null_key_takes_the_fallback) {
  const auto config = sample();
  for (const char* key : {"none", "rope_scaling"}) {
    EXPECT_FALSE(config.has(key));
    EXPECT_EQ(config.int_or(key, -7), -7);
    EXPECT_EQ(config.float_or(key, 0.5), 0.5);
    EXPECT_TRUE(config.bool_or(key, true));
    EXPECT_EQ(config.string_or(key, "x"), "x");
    EXPECT_FALSE(config.find_child(key));
    EXPECT_THAT(config.ints(key), IsEmpty());
  }
  EXPECT_THAT(config.ints("empty"), IsEmpty());
  EXPECT_EQ(config.int_or("hidden_size", 7), 576);
  EXPECT_EQ(config.float_or("eps", 7), 1e-5);
  EXPECT_TRUE(config.bool_or("tied", false));
  EXPECT_EQ(config.string_or("model_type", "x"), "llama");
}

TEST(hf_config, an_unexpected_value_is_named_with_its_path) {
  const auto config = sample();
  const auto text = config.child("text_config");
  const std::vector<std::pair<std::function<void()>, std::string>> cases = {
      {[&] { (void)config.required_int("none"); },
       "config.json: expected an integer from 0 to 2147483647 under key 'none', found no such key."},
      {[&] {
         (void)config.required_int("hidden_size", {1, 512});
       },
       "an integer from 1 to 512 under key 'hidden_size', found '576'"},
      {[&] { (void)config.required_int("pad_token_id"); }, "found '-1'"},
      {[&] {
         (void)config.required_int("huge", {INT64_MIN, INT64_MAX});
       },
       "found '18446744073709551615'"},
      {[&] { (void)config.required_int("eps"); }, "found '1e-05'"},
      {[&] { (void)config.int_or("tied", 1); }, "found 'true'"},
      {[&] { (void)config.float_or("tied", 1); }, "a number under key 'tied', found 'true'"},
      {[&] { (void)config.bool_or("eps", true); }, "true or false under key 'eps'"},
      {[&] { (void)config.string_or("eos_list", ""); }, "a string under key 'eos_list', found an array"},
      {[&] {
         (void)config.ints("eos_list", {0, 1});
       },
       "an integer from 0 to 1 or an array of them under key 'eos_list', found '2'"},
      {[&] { (void)config.strings("eos_list"); }, "a string or an array of strings under key 'eos_list', found '1'"},
      {[&] { (void)config.floats("text_config"); },
       "a number or an array of numbers under key 'text_config', found an object"},
      {[&] { (void)config.child("none"); }, "an object under key 'none', found no such key"},
      {[&] { (void)config.find_child("eps"); }, "an object under key 'eps'"},
      {[&] { (void)text.required_int("layers"); }, "under key 'text_config.layers', found '?many?'"},
      {[&] { (void)text.child("inner").ints("x"); }, "under key 'text_config.inner.x', found '?y?'"},
  };
  for (const auto& [action, expected] : cases) {
    auto wanted = expected;
    std::replace(wanted.begin(), wanted.end(), '?', '"'); // JSON text is shown as it is
    EXPECT_THAT(refusal("config.json", action), HasSubstr(wanted));
  }
}

TEST(hf_config, text_that_is_no_object_is_refused) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "expected JSON, found an error at byte"},
      {"{\"a\": 1", "expected JSON, found an error at byte"},
      {"{\"a\": 1} {", "expected JSON, found an error at byte"},
      {"{\"a\": \"\xff\"}", "expected JSON, found an error at byte"},
      {"{\"a\": 1e999}", "a number beyond the range of a double"},
      {"[1]", "expected a JSON object, found an array"},
      {"\"x\"", "expected a JSON object, found"},
      {std::string(1000, '['), "nested at most 64 deep"},
      {"{\"a\": " + std::string(5'000'000, '['), "nested at most 64 deep"},
      {"{" + std::string(std::size_t{17} << 20, ' ') + "}", "at most 16777216 bytes"},
  };
  for (const auto& [text, expected] : cases)
    EXPECT_THAT(refusal("voice.json", [&] { hf_config::parse(text, "voice.json"); }), HasSubstr(expected));
}

TEST(hf_config, a_file_is_read_and_named) {
  const test::temporary_folder folder;
  const auto path = folder.write("config.json", R"({"a": 1})");
  EXPECT_EQ(hf_config::load(path).required_int("a"), 1);
  EXPECT_EQ(hf_config::load(path).where(), path.string());
  EXPECT_THAT(refusal("none.json", [&] { hf_config::load(folder.path() / "none.json"); }), HasSubstr("Cannot open"));
}

TEST(hf_config, a_child_outlives_its_parent) {
  const auto child = sample().child("text_config");
  EXPECT_EQ(child.required_string("layers"), "many");
}

} // namespace
} // namespace omni
