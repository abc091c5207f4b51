#include "kernels/core/error.hpp"
#include "test/kernels/text/tiny_tokenizer.hpp"

#include <functional>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace omni::text {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using ids = std::vector<std::int32_t>;

/// The sentence with which a changed tokenizer.json is refused.
std::string refusal(const std::function<void(json&)>& change) {
  json file = test::tiny_tokenizer_json();
  change(file);
  try {
    tokenizer::from_json(file.dump(), "dir/tokenizer.json");
  } catch (const load_error& error) {
    EXPECT_THAT(error.what(), HasSubstr("dir/tokenizer.json"));
    return error.what();
  }
  ADD_FAILURE() << "a bad file was accepted";
  return "";
}

TEST(tokenizer_json, every_truncation_is_refused) {
  const std::string whole = test::tiny_tokenizer_json().dump();
  for (std::size_t size = 0; size < whole.size(); ++size)
    EXPECT_THROW(tokenizer::from_json(std::string_view(whole).substr(0, size), "t"), load_error) << size;
}

/// Of tokens, merges and added tokens one of each is enough.
bool is_first_of_its_kind(const std::string& path) {
  for (const char* many : {"/model/vocab/", "/model/merges/", "/added_tokens/"})
    if (path.starts_with(many)) return path == "/model/vocab/hello" || path.starts_with(many + std::string("0"));
  return true;
}

TEST(tokenizer_json, wrong_types_anywhere_are_refused_or_harmless) {
  const std::vector<json> wrong = {
      nullptr, true, -1, 1e300, "x", json::array(), json::object(), json::array({json::array()})};
  const json good = test::tiny_tokenizer_json();
  const json paths = good.flatten();
  for (const auto& path : paths.items())
    for (const json& value : wrong) {
      if (!is_first_of_its_kind(path.key())) continue;
      json bad = good;
      bad[json::json_pointer(path.key())] = value;
      try {
        EXPECT_EQ(tokenizer::from_json(bad.dump(), "t").decode(ids{'a'}, false), "a");
      } catch (const load_error& error) {
        EXPECT_THAT(error.what(), testing::StartsWith("t: "));
      }
    }
}

TEST(tokenizer_json, says_what_is_wrong) {
  EXPECT_THAT(refusal([](json& f) { f.erase("model"); }), HasSubstr("'model' is missing"));
  EXPECT_THAT(refusal([](json& f) { f["model"]["type"] = "Unigram"; }), HasSubstr("'Unigram'"));
  EXPECT_THAT(refusal([](json& f) { f["model"]["byte_fallback"] = true; }), HasSubstr("byte_fallback"));
  EXPECT_THAT(refusal([](json& f) {
                f["model"]["vocab"] = json::object();
                f["model"]["merges"] = json::array();
                f["added_tokens"] = json::array();
              }),
              HasSubstr("empty"));
  EXPECT_THAT(refusal([](json& f) { f["model"]["vocab"]["hello"] = -5; }), HasSubstr("'hello'"));
  EXPECT_THAT(refusal([](json& f) { f["model"]["vocab"]["hello"] = 4'000'000'000U; }), HasSubstr("4000000000"));
  EXPECT_THAT(refusal([](json& f) { f["model"]["vocab"]["hello"] = 2'000'000'000; }), HasSubstr("2000000000"));
  EXPECT_THAT(refusal([](json& f) { f["model"]["vocab"]["hello"] = 3; }), HasSubstr("id 3 is given to two tokens"));
  EXPECT_THAT(refusal([](json& f) { f["model"]["merges"].push_back("zz zz"); }), HasSubstr("'zz'"));
  EXPECT_THAT(refusal([](json& f) { f["model"]["merges"].push_back("nospace"); }), HasSubstr("nospace"));
  EXPECT_THAT(refusal([](json& f) { f["model"]["merges"].push_back({"a", 1}); }), HasSubstr("two tokens"));
  EXPECT_THAT(refusal([](json& f) {
                f["added_tokens"].push_back(f["added_tokens"][0]);
                f["added_tokens"].back()["id"] = 999;
              }),
              HasSubstr("two ids"));
  EXPECT_THAT(refusal([](json& f) { f["added_tokens"][0]["content"] = std::string(5000, 'x'); }),
              HasSubstr("1024 bytes"));
  EXPECT_THAT(refusal([](json& f) { f["normalizer"] = {{"type", "Lowercase"}}; }), HasSubstr("Lowercase"));
  EXPECT_THAT(refusal([](json& f) { f["pre_tokenizer"] = nullptr; }), HasSubstr("ByteLevel"));
  EXPECT_THAT(refusal([](json& f) { f["pre_tokenizer"]["type"] = "Metaspace"; }), HasSubstr("Metaspace"));
  EXPECT_THAT(refusal([](json& f) {
                f["post_processor"] = {{"type", "BertProcessing"}};
              }),
              HasSubstr("BertProcessing"));
}

json with_pattern(const std::string& pattern) {
  json file = test::tiny_tokenizer_json();
  const json split = {
      {"type", "Split"}, {"pattern", {{"Regex", pattern}}}, {"behavior", "Isolated"}, {"invert", false}};
  const json bytes = {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}};
  file["pre_tokenizer"] = {{"type", "Sequence"}, {"pretokenizers", {split, bytes}}};
  return file;
}

TEST(tokenizer_json, broken_patterns_are_refused) {
  for (const char* pattern : {"(", "[", "a{99999}", "(?<!a*)b", "\\p{Nope}", "*", "\\C", "(a)\\1"})
    EXPECT_THROW(tokenizer::from_json(with_pattern(pattern).dump(), "t"), load_error) << pattern;
  EXPECT_THROW(tokenizer::from_json(with_pattern(std::string(100'000, 'a')).dump(), "t"), load_error);
  EXPECT_THROW(tokenizer::from_json(with_pattern(std::string(5000, '(') + std::string(5000, ')')).dump(), "t"),
               load_error);
}

TEST(tokenizer_json, patterns_without_end_give_up_on_the_text) {
  for (const char* pattern : {"(a+)+$", "(a|a)*b", "(?:a?){60}a{60}b", "a*b|a", "(?=a*b)|a", "(?:a*a*a*)b|a"}) {
    const tokenizer model = tokenizer::from_json(with_pattern(pattern).dump(), "t");
    try {
      EXPECT_EQ(model.encode(std::string(200'000, 'a')).size(), 200'000U) << pattern; // or it was quick after all
    } catch (const input_error& error) {
      EXPECT_EQ(error.param, "prompt");
    }
  }
}

TEST(tokenizer_json, white_space_is_that_of_unicode) {
  const tokenizer model = tokenizer::from_json(with_pattern("\\s+").dump(), "t");
  // Pieces are cut at white space, so "a" and "b" on its two sides cannot merge, but U+180E is no white space.
  const ids glued = model.encode("x\u180Eab");
  EXPECT_EQ(glued.back(), *model.id_of("ab"));
  for (const char* space : {"\u0085", "\u00A0", "\u2003", "\u3000", "\u2028"}) {
    const ids cut = tokenizer::from_json(with_pattern("\\S").dump(), "t").encode(std::string(space) + "ab");
    EXPECT_EQ(cut[cut.size() - 2], 'a') << space; // \S isolates each letter
  }
}

gguf_vocabulary tiny_vocabulary() {
  const tokenizer tiny = test::tiny_tokenizer();
  gguf_vocabulary made{.model = "gpt2",
                       .pre = "smollm",
                       .tokens = {},
                       .token_types = {},
                       .merges = {"h e", "l l", "he ll", "hell o", "a b"},
                       .bos = 262,
                       .add_bos = {}};
  for (std::int32_t id = 0; id < tiny.vocab_size(); ++id) {
    made.tokens.push_back(tiny.token_content(id));
    made.token_types.push_back(tiny.is_special(id) ? 3 : id >= 262 ? 4 : 1);
  }
  return made;
}

TEST(tokenizer_gguf, encodes_as_the_same_vocabulary_in_json) {
  const tokenizer model = tokenizer::from_gguf(tiny_vocabulary(), "file.gguf");
  EXPECT_EQ(model.encode("hello <|im_start|>a1"),
            (ids{*model.id_of("hello"), ' ', *model.id_of("<|im_start|>"), 'a', '1'}));
  EXPECT_TRUE(model.is_special(262));
  EXPECT_FALSE(model.is_special(*model.id_of("<think>")));
  EXPECT_EQ(model.encode("<think>", specials::as_text), ids{*model.id_of("<think>")});
}

TEST(tokenizer_gguf, begins_with_a_token_when_the_file_or_the_family_says_so) {
  gguf_vocabulary vocabulary = tiny_vocabulary();
  const auto first = [&] {
    return tokenizer::from_gguf(vocabulary, "f").encode("a", specials::recognised, true).front();
  };
  EXPECT_EQ(first(), 'a');
  vocabulary.add_bos = true;
  EXPECT_EQ(first(), 262);
  vocabulary.add_bos = {};
  vocabulary.pre = "llama-bpe";
  EXPECT_EQ(first(), 262);
  vocabulary.add_bos = false;
  EXPECT_EQ(first(), 'a');
}

TEST(tokenizer_gguf, every_known_way_to_cut_compiles_and_decodes_back) {
  for (const char* pre :
       {"", "default", "gpt-2", "smollm", "starcoder", "qwen2", "deepseek-r1-qwen", "llama-bpe", "llama3"}) {
    gguf_vocabulary vocabulary = tiny_vocabulary();
    vocabulary.pre = pre;
    const tokenizer model = tokenizer::from_gguf(vocabulary, "f");
    const std::string text = "Hello  it's 1234 \u00E9\u4E2D!?\n\n x";
    EXPECT_EQ(model.decode(model.encode(text), false), text) << pre;
  }
}

TEST(tokenizer_gguf, says_what_is_wrong) {
  const auto refused = [](const std::function<void(gguf_vocabulary&)>& change) -> std::string {
    gguf_vocabulary vocabulary = tiny_vocabulary();
    change(vocabulary);
    try {
      tokenizer::from_gguf(vocabulary, "file.gguf");
    } catch (const load_error& error) {
      return error.what();
    }
    return "accepted";
  };
  EXPECT_THAT(refused([](auto& v) { v.model = "llama"; }), HasSubstr("'llama'"));
  EXPECT_THAT(refused([](auto& v) { v.pre = "nope"; }),
              testing::AllOf(HasSubstr("'nope'"), HasSubstr("smollm, "), HasSubstr("qwen2")));
  EXPECT_THAT(refused([](auto& v) { v.token_types.pop_back(); }), HasSubstr("token_type"));
  EXPECT_THAT(refused([](auto& v) {
                v.tokens.clear();
                v.token_types.clear();
              }),
              HasSubstr("empty"));
  EXPECT_THAT(refused([](auto& v) { v.tokens[7] = v.tokens[8]; }), HasSubstr("appears twice"));
  EXPECT_THAT(refused([](auto& v) { v.merges.emplace_back("helloworld"); }), HasSubstr("helloworld"));
  EXPECT_THAT(refused([](auto& v) {
                v.add_bos = true;
                v.bos = {};
              }),
              HasSubstr("bos_token_id"));
  EXPECT_THAT(refused([](auto& v) {
                v.add_bos = true;
                v.bos = 99999;
              }),
              HasSubstr("99999"));
}

} // namespace
} // namespace omni::text
