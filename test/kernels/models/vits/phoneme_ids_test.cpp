#include "kernels/models/vits/phoneme_ids.hpp"

#include "test/support/tiny_voice.hpp"

#include <gmock/gmock.h>

namespace omni::vits {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// Of the tiny voice: "_" 0, "^" 1, "$" 2, " " 3, "." 4, "," 5, ... "a" 10, "b" 11.
voice_config voice() { return voice_config::parse(test::tiny_voice().json(), "tiny.onnx.json"); }

TEST(phoneme_ids, have_a_pad_after_the_begin_and_after_each_phoneme) {
  EXPECT_THAT(phoneme_ids(voice(), U"ab."), ElementsAre(1, 0, 10, 0, 11, 0, 4, 0, 2));
}

TEST(phoneme_ids, leave_out_what_the_voice_does_not_know) {
  EXPECT_THAT(phoneme_ids(voice(), U"aʃb"), ElementsAre(1, 0, 10, 0, 11, 0, 2));
}

TEST(phoneme_ids, are_empty_when_nothing_would_be_heard) {
  for (const auto* silent : {U"", U" ", U".", U" , ! ", U"ʃθ"}) EXPECT_THAT(phoneme_ids(voice(), silent), IsEmpty());
}

TEST(phoneme_ids, of_a_voice_for_characters_ignore_case_where_it_must) {
  auto some = voice();
  EXPECT_EQ(phoneme_ids(some, U"AB"), phoneme_ids(some, U"ab"));
  some.source = phoneme_source::espeak; // there, capital letters are other phonemes
  EXPECT_THAT(phoneme_ids(some, U"AB"), IsEmpty());
}

TEST(phoneme_ids, take_the_longest_phoneme_that_fits) {
  auto some = voice();
  some.ids[U"ab"] = {30, 31};
  some.longest_phoneme = 2;
  EXPECT_THAT(phoneme_ids(some, U"aab"), ElementsAre(1, 0, 10, 0, 30, 31, 0, 2));
}

TEST(phoneme_ids, follow_the_voices_replacements) {
  auto some = voice();
  some.replacements[U'x'] = U"ab";
  EXPECT_EQ(phoneme_ids(some, U"x"), phoneme_ids(some, U"ab"));
}

TEST(split_phonemes, cuts_between_words) {
  EXPECT_THAT(split_phonemes(U"aaaa bbbb cccc", 10), ElementsAre(U"aaaa bbbb", U"cccc"));
  EXPECT_THAT(split_phonemes(U"aaaaaaaaaaaa", 5), ElementsAre(U"aaaaa", U"aaaaa", U"aa"));
  EXPECT_THAT(split_phonemes(U"short", 5), ElementsAre(U"short"));
  EXPECT_THAT(split_phonemes(U"", 5), IsEmpty());
}

} // namespace
} // namespace omni::vits
