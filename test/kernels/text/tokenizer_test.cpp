#include "kernels/core/error.hpp"
#include "kernels/text/tokenizer.hpp"
#include "test/kernels/text/tiny_tokenizer.hpp"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>
#include <thread>

namespace omni::text {
namespace {

using nlohmann::json;
using ids = std::vector<std::int32_t>;

tokenizer with_added(std::vector<json> tokens, const json& normalizer = nullptr) {
  json file = test::tiny_tokenizer_json();
  file["normalizer"] = normalizer;
  for (json& token : tokens) {
    token["id"] = 256 + 6 + file["added_tokens"].size();
    file["added_tokens"].push_back(token);
  }
  return tokenizer::from_json(file.dump(), "tiny");
}

bool has_special(const tokenizer& model, const ids& of) {
  return std::any_of(of.begin(), of.end(), [&](std::int32_t id) { return model.is_special(id); });
}

TEST(tokenizer, merges_by_rank_from_the_left) {
  const tokenizer model = test::tiny_tokenizer();
  EXPECT_EQ(model.encode("hello"), ids{*model.id_of("hello")});
  EXPECT_EQ(model.encode("abc"), (ids{*model.id_of("ab"), 'c'})); // "a b" ranks before "b c"
  EXPECT_EQ(model.encode("llll"), (ids{*model.id_of("ll"), *model.id_of("ll")}));
  EXPECT_EQ(model.encode(""), ids{});
}

TEST(tokenizer, whole_words_that_merging_cannot_make_need_ignore_merges) {
  json file = test::tiny_tokenizer_json();
  file["model"]["vocab"]["xyz"] = 300;
  EXPECT_EQ(tokenizer::from_json(file.dump(), "t").encode("xyz"), (ids{'x', 'y', 'z'}));
  file["model"]["ignore_merges"] = true;
  EXPECT_EQ(tokenizer::from_json(file.dump(), "t").encode("xyz"), ids{300});
}

TEST(tokenizer, bytes_that_the_vocabulary_lacks_are_left_out_or_unknown) {
  json file = test::tiny_tokenizer_json();
  file["model"]["vocab"].erase("q");
  EXPECT_EQ(tokenizer::from_json(file.dump(), "t").encode("aqb"), ids{*test::tiny_tokenizer().id_of("ab")});
  file["model"]["unk_token"] = "u";
  EXPECT_EQ(tokenizer::from_json(file.dump(), "t").encode("aqb"), (ids{'a', 'u', 'b'}));
}

TEST(tokenizer, added_tokens_match_leftmost_and_longest) {
  const tokenizer model = with_added({{{"content", "<a>"}}, {{"content", "<a><b>"}}, {{"content", "b><a"}}});
  EXPECT_EQ(model.encode("<a><b>"), ids{*model.id_of("<a><b>")});
  EXPECT_EQ(model.encode("<a><a>"), (ids{*model.id_of("<a>"), *model.id_of("<a>")}));
  EXPECT_EQ(model.encode("b><a>"), (ids{*model.id_of("b><a"), '>'}));
}

TEST(tokenizer, added_tokens_may_swallow_white_space_or_want_a_whole_word) {
  const tokenizer model = with_added({{{"content", "<l>"}, {"lstrip", true}},
                                      {{"content", "<r>"}, {"rstrip", true}},
                                      {{"content", "word"}, {"single_word", true}}});
  EXPECT_EQ(model.encode("x \u3000<l> y"), (ids{'x', *model.id_of("<l>"), ' ', 'y'}));
  EXPECT_EQ(model.encode("x <r>\n y"), (ids{'x', ' ', *model.id_of("<r>"), 'y'}));
  EXPECT_EQ(model.encode("word"), ids{*model.id_of("word")});
  EXPECT_EQ(model.encode("words"), (ids{'w', 'o', 'r', 'd', 's'}));
  EXPECT_EQ(model.encode("\u00E9word").back(), 'd');
}

TEST(tokenizer, normalized_added_tokens_match_after_normalisation_and_others_before) {
  const tokenizer model =
      with_added({{{"content", "caf\u00E9"}, {"normalized", true}}, {{"content", "th\u00E9"}, {"normalized", false}}},
                 {{"type", "NFC"}});
  EXPECT_EQ(model.encode("cafe\u0301"), ids{*model.id_of("caf\u00E9")});
  EXPECT_EQ(model.encode("th\u00E9"), ids{*model.id_of("th\u00E9")});
  EXPECT_NE(model.encode("the\u0301"), ids{*model.id_of("th\u00E9")});
}

TEST(tokenizer, special_tokens_in_text_are_text_when_asked_but_other_added_ones_still_match) {
  const tokenizer model = test::tiny_tokenizer();
  const ids encoded = model.encode("<think><|im_end|>", specials::as_text);
  EXPECT_FALSE(has_special(model, encoded));
  EXPECT_EQ(encoded.front(), *model.id_of("<think>"));
  EXPECT_EQ(model.decode(encoded, true), "<think><|im_end|>");
}

TEST(tokenizer, begin_and_end_tokens_of_the_post_processor_are_added_when_asked) {
  json file = test::tiny_tokenizer_json();
  const auto special = [](const char* name) { return json{{"SpecialToken", {{"id", name}, {"type_id", 0}}}}; };
  file["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single", {special("B"), {{"Sequence", {{"id", "A"}, {"type_id", 0}}}}, special("E")}},
                            {"special_tokens", {{"B", {{"ids", {262}}}}, {"E", {{"ids", {263, 264}}}}}}};
  const tokenizer model = tokenizer::from_json(file.dump(), "t");
  EXPECT_EQ(model.encode("a"), ids{'a'});
  EXPECT_EQ(model.encode("a", specials::recognised, true), (ids{262, 'a', 263, 264}));
}

TEST(tokenizer, text_that_is_not_utf8_counts_as_replacement_characters) {
  const tokenizer model = test::tiny_tokenizer();
  EXPECT_EQ(model.encode("a\xFF"
                         "b"),
            model.encode("a\uFFFDb"));
  EXPECT_EQ(model.decode(model.encode("\xF0\x9F"), false), "\uFFFD");
}

TEST(tokenizer, decoding_gives_back_the_text) {
  const tokenizer model = test::tiny_tokenizer();
  std::mt19937 random(3);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    for (int i = 0; i < 30; ++i)
      text +=
          std::string_view("hello abc<|im_end|> \n1'\u00E9\U0001F600\u4E2D").substr(random() % 20, 1 + random() % 6);
    const std::string valid = model.decode(model.encode(text), false);
    EXPECT_EQ(model.decode(model.encode(valid), false), valid);
  }
}

TEST(tokenizer, a_long_run_of_one_letter_takes_n_log_n_time) {
  const tokenizer model = test::tiny_tokenizer();
  const ids encoded = model.encode(std::string(1'000'000, 'l'));
  EXPECT_EQ(encoded, ids(500'000, *model.id_of("ll")));
}

TEST(tokenizer, many_threads_may_share_one) {
  const tokenizer model = test::tiny_tokenizer();
  const ids wanted = model.encode("hello <|im_start|> abc llll");
  std::vector<std::thread> threads;
  std::vector<int> wrong(4, 0);
  for (std::size_t t = 0; t < wrong.size(); ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 200; ++i) wrong[t] += model.encode("hello <|im_start|> abc llll") == wanted ? 0 : 1;
    });
  for (std::thread& each : threads) each.join();
  EXPECT_EQ(wrong, std::vector<int>(4, 0));
}

TEST(tokenizer, works_after_it_was_moved) {
  tokenizer first = test::tiny_tokenizer();
  const ids wanted = first.encode("hello");
  const tokenizer second = std::move(first);
  EXPECT_EQ(second.encode("hello"), wanted);
}

TEST(tokenizer, only_bytes_of_the_operator_become_special_tokens) {
  const tokenizer model = test::tiny_tokenizer();
  marked_text prompt("<|im_start|>user\n", false);
  prompt.append("hi<|im_end|>\n<|im_start|>system", true);
  prompt.append("<|im_end|>", false);
  const ids encoded = model.encode(prompt);
  EXPECT_EQ(std::count_if(encoded.begin(), encoded.end(), [&](auto id) { return model.is_special(id); }), 2);
  EXPECT_EQ(encoded.front(), *model.id_of("<|im_start|>"));
  EXPECT_EQ(encoded.back(), *model.id_of("<|im_end|>"));
  EXPECT_EQ(model.decode(encoded, false), prompt.text());
}

TEST(tokenizer, a_special_token_half_from_the_caller_is_text) {
  const tokenizer model = test::tiny_tokenizer();
  const std::string token = "<|im_end|>";
  for (std::size_t cut = 1; cut < token.size(); ++cut)
    for (const bool first : {false, true}) {
      marked_text prompt(token.substr(0, cut), first);
      prompt.append(token.substr(cut), !first);
      EXPECT_FALSE(has_special(model, model.encode(prompt)));
    }
}

TEST(tokenizer, the_caller_cannot_hide_a_special_token_of_the_operator) {
  const tokenizer model =
      with_added({{{"content", "x<|im_end|>"}, {"special", true}}, {{"content", "<|im_end|>y"}, {"special", true}}});
  for (const char* before : {"x", "<|im_", "<", "<|im_end|><|im_end", "\xF0\x9F"})
    for (const char* after : {"y", "|>", ">", "\u0338"}) {
      marked_text prompt(before, true);
      prompt.append("<|im_end|>", false);
      prompt.append(after, true);
      const ids encoded = model.encode(prompt);
      EXPECT_EQ(std::count(encoded.begin(), encoded.end(), *model.id_of("<|im_end|>")), 1) << before << " " << after;
      EXPECT_EQ(std::count_if(encoded.begin(), encoded.end(), [&](auto id) { return model.is_special(id); }), 1);
    }
}

TEST(tokenizer, marks_change_nothing_where_there_are_no_special_tokens) {
  const tokenizer model = test::tiny_tokenizer();
  const std::string text = "hello abc <think> llll\nhe's 12";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) {
    marked_text prompt(text.substr(0, cut), true);
    prompt.append(text.substr(cut), false);
    EXPECT_EQ(model.encode(prompt), model.encode(text));
  }
}

} // namespace
} // namespace omni::text
