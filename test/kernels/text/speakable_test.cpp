#include "kernels/text/speakable.hpp"

#include "kernels/text/utf8.hpp"

#include <gtest/gtest.h>
#include <random>
#include <string>
#include <vector>

namespace omni::text {
namespace {

std::string spoken(std::string_view text) {
  speakable reader;
  const auto first = reader.push(text);
  return first + reader.finish();
}

struct example {
  const char* written;
  const char* said;
};

const example examples[] = {
    {"Just text, nothing else.", "Just text, nothing else."},
    // Emphasis, code, escapes.
    {"**Bold**, *italic*, ***both***, __bold__, _italic_, ~~gone~~, ==marked==.",
     "Bold, italic, both, bold, italic, gone, marked."},
    {"Call `foo_bar()` and `x = y`.", "Call foo bar and x = y."},
    {"A ``code with ` tick`` here", "A code with tick here"},
    {"snake_case and 2_000", "snake case and 2 000"},
    {R"(A \*star\* and \_line\_)", "A star and line"},
    // Headings, paragraphs, lists, quotes, rules.
    {"# Title\nText", "Title\nText"},
    {"###### Deep ######\nText", "Deep\nText"},
    {"#hashtag and C# and #1", "hashtag and C# and 1"},
    {"one\ntwo\n\nthree", "one two\nthree"},
    {"- a\n- b\n  - c\n* d\n+ e\n• f", "a\nb\nc\nd\ne\nf"},
    {"1. one\n2) two\n10. ten", "1: one\n2: two\n10: ten"},
    {"Intro:\n- item", "Intro:\nitem"},
    {"- [ ] open\n- [x] done", "open\ndone"},
    {"> quoted\n> more\n\nafter", "quoted more\nafter"},
    {"above\n\n---\n\nbelow\n***\n* * *\nend", "above\nbelow\nend"},
    {"Title\n=====\ntext", "Title\ntext"},
    {"3.14 is pi\n2024 was a year", "3.14 is pi 2024 was a year"},
    // Code blocks are not said.
    {"Before.\n```python\nx = 1\n# comment\n```\nAfter.", "Before.\nAfter."},
    {"~~~\ncode\n```\nstill code\n~~~\nAfter.", "After."},
    {"```` md\n```\n````\nAfter.", "After."},
    {"```inline``` stays", "inline stays"},
    {"Before.\n```\nnever closed", "Before.\n"},
    // Links, images, addresses.
    {"See [the docs](https://example.org/a_(b)?c=d \"title\").", "See the docs."},
    {"![a cat](cat.png) and [![badge](b.svg)](http://x.y)", "a cat and badge"},
    {"[one][1] and [two][] and [three].\n\n[1]: http://example.com", "one and two and three.\n"},
    {"Go to https://www.example.com/path?x=1#y, or http://foo.org.", "Go to example.com, or foo.org."},
    {"(see www.example.com/a)", "(see example.com)"},
    {"<https://foo.org/x> or <joe@example.com> or joe@example.com", "foo.org or joe@example.com or joe@example.com"},
    {"https://user:pass@host.org:8080/x", "host.org"},
    {"https and www alone; hhttp", "https and www alone; hhttp"},
    // Footnotes and sources.
    {"A fact[^1] and another[12].\n\n[^1]: The note.", "A fact and another.\nThe note."},
    {"Choose [1] or [2]", "Choose 1 or 2"},
    // HTML.
    {"<b>bold</b> and <br/>new <!-- hidden --> text", "bold and\nnew text"},
    {"R&amp;D &lt;tag&gt; &quot;q&quot; &#39;s&#x27; &nope; & so", "R&D <tag> \"q\" 's' &nope; & so"},
    {"2 < 3 and a<b", "2 < 3 and a<b"},
    // Tables.
    {"| a | b |\n|---|:-:|\n| 1 | |\n| c | d |\n\nend", "a, b\n1\nc, d\nend"},
    // Pictures and silent characters.
    {"Great 🎉! Yes 👍🏽👨‍👩‍👧 ok ✅ done", "Great! Yes ok done"},
    {"a\u200Bb \uFEFFc", "ab c"},
    // Numbers, currencies, mathematics.
    {"It costs $5.50, €20 or £3, about $2 million.", "It costs 5.50 $, 20 € or 3 £, about 2 million $."},
    {"US$ and $x$ and 5$", "US$ and x and 5$"},
    {"2 * 3 = 6, 2*3, 5 - 1, ~5 and 10%", "2 × 3 = 6, 2×3, 5 − 1, ≈5 and 10%"},
    {R"(\(x^2\) and \[y\] and $$z$$)", "x2 and y and z"},
    {"a -> b => c → d", "a, b, c, d"},
    {"well - yes -- or --- no, 5-10, re-do", "well – yes – or – no, 5-10, re-do"},
    // Repeated marks.
    {"What!!! Why??? Hm,, so;; wait... yes....", "What! Why? Hm, so; wait… yes…"},
    {"use .NET and e.g. this", "use .NET and e.g. this"},
    // Phonemes pass.
    {"Say [[ h@l'oU_x*y ]] now", "Say [[ h@l'oU_x*y ]] now"},
    // What is never closed.
    {"an [open link", "an open link"},
    {"an [open](http://x", "an open(x"},
    {"**open bold", "open bold"},
    {"`open code", "open code"},
    {"<open tag", "<open tag"},
    {"<!-- open comment", "open comment"},
    {"", ""},
    {"\n\n\n", ""},
    {"Windows\r\nlines\r\n\r\nhere", "Windows lines\nhere"},
};

TEST(speakable, says_what_a_person_would) {
  for (const auto& one : examples) EXPECT_EQ(spoken(one.written), one.said) << one.written;
}

void expect_the_same_in_pieces(const std::string& text) {
  const auto whole = spoken(text);
  for (std::uint32_t seed = 0; seed < 40; ++seed) {
    std::mt19937 generator(seed);
    speakable reader;
    std::string said;
    for (std::size_t at = 0; at < text.size();) { // cut anywhere, within characters too
      const auto size = 1 + generator() % (1 + seed % 12);
      said += reader.push(std::string_view(text).substr(at, size));
      at += size;
    }
    said += reader.finish();
    ASSERT_EQ(said, whole) << text;
  }
}

TEST(speakable, says_the_same_however_the_text_comes) {
  for (const auto& one : examples) expect_the_same_in_pieces(one.written);
}

TEST(speakable, says_the_same_of_random_marks_however_they_come) {
  const std::vector<std::string> parts{
      "*",   "**",   "_",       "`", "```", "~~~", "[",   "]",    "(",  ")",  "[[",   "]]", "!",   "<",    ">",   "<b>",
      "-->", "<!--", "&amp;",   "&", ";",   "#",   "\n",  "\n\n", " ",  "a",  "word", "1",  "1. ", "- ",   "---", "|",
      "$",   "$5",   "http://", "é", "🎉",   ".",   "...", "=",    "->", "\\", "[^1]", ":",  "日",  "\xff", "\t"};
  std::mt19937 generator(5);
  for (int round = 0; round < 150; ++round) {
    std::string text;
    for (auto count = generator() % 120; count > 0; --count) text += parts[generator() % parts.size()];
    expect_the_same_in_pieces(text);
    EXPECT_TRUE(is_valid_utf8(spoken(text)));
  }
}

TEST(speakable, gives_plain_words_out_as_they_come) {
  speakable reader;
  EXPECT_EQ(reader.push("Hello"), "Hello");
  EXPECT_EQ(reader.push(" wor"), " wor");
  EXPECT_EQ(reader.push("ld. "), "ld.");
  EXPECT_EQ(reader.push("Next"), " Next");
}

TEST(speakable, holds_an_open_mark_back_for_a_bounded_length_only) {
  for (const char* opening : {"[a](", "<a ", "[[", "<!--", "https://", "&", "| ", "[^", "[x", "```x", "$1"}) {
    SCOPED_TRACE(opening);
    speakable reader;
    std::string said = reader.push(opening);
    for (int i = 0; i < 100; ++i) said += reader.push(std::string(100, '1'));
    said += reader.push("\nEnd of it.");
    said += reader.finish();
    EXPECT_LE(said.size(), 10100U);
  }
}

TEST(speakable, repairs_invalid_utf8) {
  EXPECT_EQ(spoken("a\xff\xc3(b"), "a(b"); // the replacement character is silent
  EXPECT_EQ(spoken("caf\xc3\xa9"), "café");
}

} // namespace
} // namespace omni::text
