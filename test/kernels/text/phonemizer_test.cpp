#include "kernels/text/phonemizer.hpp"

#include "kernels/core/error.hpp"
#include "kernels/text/segmenter_marks.hpp"

#include <atomic>
#include <gmock/gmock.h>
#include <thread>

namespace omni::text {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

TEST(character_phonemizer, takes_the_characters_decomposed) {
  const auto phonemes = make_character_phonemizer()->phonemes("Ça va.");
  EXPECT_THAT(phonemes, ElementsAre(U"C\u0327a va."));
}

TEST(phonemizer, takes_phonemes_between_double_brackets_as_they_are) {
  const auto by_characters = make_character_phonemizer();
  EXPECT_THAT(by_characters->phonemes("say [[ həlˈoʊ ]] now"), ElementsAre(U"say həlˈoʊ now"));
  EXPECT_THAT(by_characters->phonemes("[[abc]]"), ElementsAre(U"abc"));
  EXPECT_THAT(by_characters->phonemes("a [[b]], c"), ElementsAre(U"a b, c"));
  EXPECT_THAT(by_characters->phonemes("open [[ abc"), ElementsAre(U"open [[ abc"));
  EXPECT_THAT(by_characters->phonemes("[[ ]]"), IsEmpty());
}

class espeak_phonemizer : public ::testing::Test {
protected:
  std::shared_ptr<const phonemizer> english_ = load_espeak_phonemizer("en-us");

  std::u32string last_marks(std::string_view text) {
    std::u32string marks;
    for (const auto& sentence : english_->phonemes(text)) marks += sentence.back();
    return marks;
  }
};

TEST_F(espeak_phonemizer, splits_sentences_and_keeps_their_marks) {
  EXPECT_EQ(last_marks("Hello, world. How are you? Go!"), U".?!");
  const auto one = english_->phonemes("Fine; thanks: yes, we go.");
  ASSERT_THAT(one, SizeIs(1));
  for (const char32_t mark : {U';', U':', U',', U'.'}) EXPECT_NE(one[0].find(mark), std::u32string::npos);
  EXPECT_NE(one[0].find(U"; "), std::u32string::npos);
}

TEST_F(espeak_phonemizer, is_not_led_astray_by_other_stops) {
  EXPECT_THAT(english_->phonemes("It is 3.14 at 10:30 on example.com."), SizeIs(1));
  EXPECT_THAT(english_->phonemes("Dr. Smith and J. R. Lee met, e.g. here."), SizeIs(1));
  EXPECT_THAT(english_->phonemes("A."), ElementsAre(::testing::Truly([](const auto& s) { return s.ends_with(U"."); })));
}

TEST_F(espeak_phonemizer, says_nothing_of_nothing) {
  for (const char* silent : {"", " ", "\n", "..."}) EXPECT_THAT(english_->phonemes(silent), IsEmpty()) << silent;
}

TEST_F(espeak_phonemizer, gives_the_same_again_and_in_another_language_something_else) {
  const auto first = english_->phonemes("The water is good.");
  const auto german = load_espeak_phonemizer("de");
  EXPECT_NE(german->phonemes("The water is good."), first);
  EXPECT_EQ(english_->phonemes("The water is good."), first);
}

TEST_F(espeak_phonemizer, may_be_used_by_several_threads) {
  const auto german = load_espeak_phonemizer("de");
  const auto english_words = english_->phonemes("one two three");
  const auto german_words = german->phonemes("eins zwei drei");
  std::atomic<int> wrong = 0;
  std::vector<std::jthread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&, i] {
      for (int round = 0; round < 20; ++round) {
        const bool same = i % 2 == 0 ? english_->phonemes("one two three") == english_words
                                     : german->phonemes("eins zwei drei") == german_words;
        wrong += same ? 0 : 1;
      }
    });
  threads.clear();
  EXPECT_EQ(wrong, 0);
}

TEST_F(espeak_phonemizer, takes_any_valid_text) {
  std::string all;
  for (char32_t c = 1; c < 0x3000; c += 7) {
    const auto piece = std::u32string(1, c);
    if (c >= 0xD800 && c < 0xE000) continue;
    all += c < 0x80 ? std::string(1, static_cast<char>(c)) : "";
    if (c >= 0x80 && c < 0x800) {
      all += static_cast<char>(0xC0 | c >> 6);
      all += static_cast<char>(0x80 | (c & 0x3F));
    }
  }
  EXPECT_THAT(english_->phonemes(all + " " + std::string(3000, 'a') + " " + std::string(500, '.')),
              ::testing::Not(IsEmpty()));
}

TEST(load_espeak_phonemizer, refuses_a_voice_that_does_not_exist) {
  try {
    load_espeak_phonemizer("xx-nowhere");
    ADD_FAILURE() << "accepted";
  } catch (const load_error& problem) {
    EXPECT_THAT(problem.what(), ::testing::HasSubstr("xx-nowhere"));
  }
}

TEST(full_stop, ends_a_sentence_unless_its_word_is_an_abbreviation) {
  const auto ends = [](std::u32string_view before, char32_t next) {
    const auto text = std::u32string(before) + U".";
    return full_stop_ends_sentence(text, text.size() - 1, next);
  };
  EXPECT_TRUE(ends(U"the end", U'T'));
  EXPECT_TRUE(ends(U"Dr", 0)); // nothing follows
  EXPECT_FALSE(ends(U"Dr", U'S'));
  EXPECT_FALSE(ends(U"(Prof", U'S'));
  EXPECT_TRUE(ends(U"apples etc", U'T'));
  EXPECT_FALSE(ends(U"apples etc", U't'));
  EXPECT_FALSE(ends(U"by J", U'S'));
  EXPECT_TRUE(ends(U"and I", U'S'));
  EXPECT_FALSE(ends(U"1", U'F'));
  EXPECT_TRUE(ends(U"in 1999", U'F'));
  EXPECT_FALSE(ends(U"the U.S", U'A'));
}

} // namespace
} // namespace omni::text
