#include "kernels/text/segmenter.hpp"

#include "kernels/text/utf8.hpp"

#include <gmock/gmock.h>
#include <random>

namespace omni::text {
namespace {

using strings = std::vector<std::string>;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

strings texts(const std::vector<spoken_segment>& segments) {
  strings all;
  for (const auto& one : segments) all.push_back(one.text);
  return all;
}

std::vector<spoken_segment> segments_of(std::string_view text) {
  segmenter cut;
  auto all = cut.push(text);
  const auto rest = cut.finish();
  all.insert(all.end(), rest.begin(), rest.end());
  return all;
}

struct example {
  const char* text;
  strings segments;
};

const example examples[] = {
    {"Hello there. How are you? Fine!", {"Hello there.", "How are you?", "Fine!"}},
    // The first segment may be a clause, if it has words enough.
    {"When the rain finally stopped, we went out, all of us.",
     {"When the rain finally stopped,", "we went out, all of us."}},
    {"Well, yes. When the rain finally stopped, we left.", {"Well, yes.", "When the rain finally stopped, we left."}},
    {"This is the first part — and this the second.", {"This is the first part —", "and this the second."}},
    {"One two three four five: six.", {"One two three four five:", "six."}},
    {"It cost 1,000 of the old coins.", {"It cost 1,000 of the old coins."}},
    // Stops that end nothing.
    {"Dr. Smith met Mrs. Jones, Prof. Lee and J. R. Tolkien. They left.",
     {"Dr. Smith met Mrs. Jones,", "Prof. Lee and J. R. Tolkien.", "They left."}},
    {"Pi is 3.14 and e is 2.71. Yes.", {"Pi is 3.14 and e is 2.71.", "Yes."}},
    {"Fruit, e.g. apples. See example.com. Or a.b.c now.",
     {"Fruit, e.g. apples.", "See example.com.", "Or a.b.c now."}},
    {"We met at 5 p.m. The train left. He came at 5 p.m. and sat.",
     {"We met at 5 p.m.", "The train left.", "He came at 5 p.m. and sat."}},
    {"The U.S. Army came.", {"The U.S. Army came."}},
    {"Apples, pears etc. are fruit. Apples etc. Then more.",
     {"Apples, pears etc. are fruit.", "Apples etc.", "Then more."}},
    {"1. First thing.", {"1. First thing."}},
    {"It was in 1999. Then came 2000.", {"It was in 1999.", "Then came 2000."}},
    {"So do I. Good.", {"So do I.", "Good."}},
    // Runs of stops, and what closes after them.
    {"Wait... what? No way!!! Really?! Yes.", {"Wait... what?", "No way!!!", "Really?!", "Yes."}},
    {"Wait… What?", {"Wait…", "What?"}},
    {"\"Stop!\" he said. “Go.” (Really?) Yes.", {"\"Stop!\" he said.", "“Go.”", "(Really?)", "Yes."}},
    {"hi. how are you. fine!", {"hi.", "how are you.", "fine!"}},
    // Lines.
    {"Title\nText here. More\n\nEnd", {"Title.", "Text here.", "More.", "End."}},
    {"  spaces   are \t one.  Next. ", {"spaces are one.", "Next."}},
    // Scripts without spaces.
    {"今日は。元気です！「はい。」そう", {"今日は。", "元気です！", "「はい。」", "そう."}},
    {"यह एक है। दूसरा।", {"यह एक है।", "दूसरा।"}},
    // Phonemes stay together.
    {"Say [[ a. b, c! d ]] now. Next [one. two]. [[ open. end",
     {"Say [[ a. b, c! d ]] now.", "Next [one.", "two].", "[[ open.", "end."}},
    // Nothing to say.
    {"", {}},
    {" ... !!! \n ?", {}},
    {"... Yes.", {"Yes."}},
};

TEST(segmenter, cuts_where_speech_pauses) {
  for (const auto& one : examples) EXPECT_EQ(texts(segments_of(one.text)), one.segments) << one.text;
}

/// The text cut into pieces of up to `most` characters.
strings random_cut(std::string_view text, std::size_t most, std::uint32_t seed) {
  std::mt19937 generator(seed);
  strings pieces;
  while (!text.empty()) {
    std::size_t size = 0;
    for (auto count = 1 + generator() % most; count > 0 && size < text.size(); --count) size += utf8_size(text[size]);
    pieces.emplace_back(text.substr(0, size));
    text.remove_prefix(size);
  }
  return pieces;
}

void expect_the_same_in_pieces(const std::string& text) {
  const auto whole = segments_of(text);
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    segmenter cut;
    std::vector<spoken_segment> all;
    const auto take = [&](const std::vector<spoken_segment>& more) { all.insert(all.end(), more.begin(), more.end()); };
    for (const auto& piece : random_cut(text, 1 + seed % 15, seed)) take(cut.push(piece));
    take(cut.finish());
    ASSERT_EQ(texts(all), texts(whole)) << text;
    for (std::size_t i = 0; i < all.size(); ++i) EXPECT_EQ(all[i].ends_sentence, whole[i].ends_sentence);
  }
}

TEST(segmenter, gives_the_same_segments_however_the_text_comes) {
  for (const auto& one : examples) expect_the_same_in_pieces(one.text);
}

TEST(segmenter, gives_the_same_segments_of_random_text_however_it_comes) {
  const strings parts{" ",  "  ",  ".", "...", "!", "?",  ",", ";",  ":",    "\n", "a",   "Bc", "def",
                      "Dr", "e.g", "3", "14",  "—", "\"", ")", "。", "日本", "é",  "etc", "p.m"};
  std::mt19937 generator(99);
  for (int round = 0; round < 60; ++round) {
    std::string text;
    for (auto count = generator() % 400; count > 0; --count) text += parts[generator() % parts.size()];
    expect_the_same_in_pieces(text);
  }
}

TEST(segmenter, says_whether_a_sentence_goes_on) {
  const auto segments = segments_of("When the rain finally stopped, we left. Good.");
  ASSERT_EQ(segments.size(), 3U);
  EXPECT_FALSE(segments[0].ends_sentence);
  EXPECT_TRUE(segments[1].ends_sentence);
  EXPECT_TRUE(segments[2].ends_sentence);
}

TEST(segmenter, gives_a_sentence_out_with_the_first_character_of_the_next) {
  segmenter cut;
  EXPECT_THAT(cut.push("Hello there"), IsEmpty());
  EXPECT_THAT(cut.push(". "), IsEmpty());
  EXPECT_THAT(texts(cut.push("H")), ElementsAre("Hello there."));
}

TEST(segmenter, cuts_an_endless_sentence_at_a_clause_or_between_words) {
  std::string words;
  for (int i = 0; i < 400; ++i) words += i % 40 == 39 ? "comma, " : "words ";
  const auto at_clauses = segments_of("Start. " + words);
  ASSERT_GT(at_clauses.size(), 5U);
  for (std::size_t i = 1; i + 1 < at_clauses.size(); ++i) {
    EXPECT_LE(at_clauses[i].text.size(), segmenter::most_characters + 1);
    EXPECT_TRUE(at_clauses[i].text.ends_with(",")) << at_clauses[i].text;
    EXPECT_FALSE(at_clauses[i].ends_sentence);
  }
  std::string plain;
  for (int i = 0; i < 400; ++i) plain += "words ";
  for (const auto& one : segments_of(plain)) {
    EXPECT_LE(one.text.size(), segmenter::most_characters + 1);
    EXPECT_TRUE(one.text.ends_with("words") || one.text.ends_with("words.")) << one.text;
  }
}

TEST(segmenter, holds_no_more_than_it_needs_of_text_without_any_border) {
  segmenter cut;
  std::size_t given = 0;
  for (int i = 0; i < 100; ++i)
    for (const auto& one : cut.push(std::string(100, 'x'))) given += one.text.size();
  EXPECT_GE(given, 10000 - 2 * segmenter::most_characters);
  segmenter dots;
  for (int i = 0; i < 100; ++i) dots.push(std::string(100, '.'));
  EXPECT_THAT(dots.finish(), IsEmpty());
}

} // namespace
} // namespace omni::text
