#include "kernels/text/normalizer.hpp"
#include "kernels/text/utf8.hpp"

#include <gtest/gtest.h>

namespace omni::text {
namespace {

constexpr const char* replacement = "\xEF\xBF\xBD";

TEST(utf8, every_scalar_value_survives_a_round_trip) {
  for (char32_t code = 0; code <= 0x10FFFF; ++code) {
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string bytes;
    append_utf8(bytes, code);
    const utf8_step step = read_utf8(bytes);
    ASSERT_EQ(step.what, utf8_step::kind::whole);
    ASSERT_EQ(step.code, code);
    ASSERT_EQ(step.size, bytes.size());
  }
}

TEST(utf8, each_maximal_broken_run_becomes_one_replacement) {
  const std::string r = replacement;
  EXPECT_EQ(repaired_utf8("a\xFF"
                          "b"),
            "a" + r + "b");
  EXPECT_EQ(repaired_utf8("\xE1\x80"
                          "A"),
            r + "A");                                          // a cut character
  EXPECT_EQ(repaired_utf8("\xE0\x80\x80"), r + r + r);         // overlong
  EXPECT_EQ(repaired_utf8("\xED\xA0\x80"), r + r + r);         // a surrogate
  EXPECT_EQ(repaired_utf8("\xF4\x90\x80\x80"), r + r + r + r); // beyond U+10FFFF
  EXPECT_EQ(repaired_utf8("\xF0\x9F\x98"), r);                 // ends inside a character
  EXPECT_EQ(repaired_utf8("\xF1\x80\xC3\xA9"), r + "\xC3\xA9");
}

TEST(utf8, holds_back_only_what_may_still_become_a_character) {
  std::string out;
  EXPECT_EQ(append_whole_characters(out, "ab\xF0\x9F\x98"), 2U);
  EXPECT_EQ(out, "ab");
  out.clear();
  EXPECT_EQ(append_whole_characters(out, "ab\xF0\x8F"), 4U); // F0 8F can never be valid
  EXPECT_EQ(out, std::string("ab") + replacement + replacement);
}

TEST(utf8, validity_agrees_with_repair) {
  for (int first = 0; first < 256; ++first)
    for (int second = 0; second < 256; ++second) {
      const std::string bytes = {static_cast<char>(first), static_cast<char>(second), 'x'};
      EXPECT_EQ(is_valid_utf8(bytes), repaired_utf8(bytes) == bytes);
    }
}

std::string nfc(std::string_view text) {
  return normalized(marked_text(std::string(text), false).view(), normal_form::nfc).text();
}

TEST(normalizer, composes_what_belongs_together) {
  EXPECT_EQ(nfc("e\u0301"), "\u00E9");
  EXPECT_EQ(nfc("\u1112\u1161\u11AB"), "\uD55C");
  EXPECT_EQ(nfc("A\u030Ax"), "\u00C5x");
  EXPECT_EQ(nfc("q\u0307\u0323"), "q\u0323\u0307"); // marks sorted by class
  EXPECT_EQ(nfc("\u212B"), "\u00C5");
}

TEST(normalizer, is_idempotent_and_its_quick_check_never_misses) {
  for (char32_t code = 0; code <= 0x10FFFF; code += code < 0x3400 ? 1 : 13) { // all that compose, some of the others
    if (code >= 0xD800 && code <= 0xDFFF) continue;
    std::string text = "a";
    append_utf8(text, code);
    const std::string once = nfc(text);
    ASSERT_EQ(nfc(once), once);
    if (!may_need_normalizing(text, normal_form::nfc)) {
      ASSERT_EQ(once, text);
    }
  }
}

TEST(normalizer, other_forms_decompose_or_fold) {
  const auto in_form = [](std::string_view text, normal_form form) {
    return normalized(marked_text(std::string(text), false).view(), form).text();
  };
  EXPECT_EQ(in_form("\u00E9", normal_form::nfd), "e\u0301");
  EXPECT_EQ(in_form("\uFB01\u00B2", normal_form::nfkc), "fi2");
  EXPECT_EQ(in_form("\u00BD", normal_form::nfkd), "1\u20442");
}

TEST(normalizer, sorts_a_long_run_of_marks_in_time) {
  std::string text = "a";
  for (int i = 0; i < 100'000; ++i) text += "\u0301\u0316"; // each pair is out of order
  const std::string out = nfc(text);
  EXPECT_EQ(out.size(), text.size() - 1); // a and the first acute became one two-byte character
  EXPECT_TRUE(out.starts_with("\u00E1\u0316\u0316"));
}

TEST(normalizer, marks_what_was_made_from_marked_text) {
  marked_text text("x>", false);
  text.append("\u0338", true); // composes with '>'
  text.append("y", false);
  const marked_text out = normalized(text.view(), normal_form::nfc);
  EXPECT_EQ(out.text(), "x\u226Fy");
  EXPECT_EQ(out.marks(), std::string("\0\1\1\1\0", 5));
}

} // namespace
} // namespace omni::text
