#include "kernels/text/stop_matcher.hpp"

#include <gtest/gtest.h>
#include <random>

namespace omni::text {
namespace {

struct outcome {
  std::string text;
  std::int32_t which = -1;
};

/// Pushes `pieces` until the matcher stops; flushes if it does not.
outcome run(stop_matcher matcher, const std::vector<std::string>& pieces) {
  outcome all;
  for (const std::string& piece : pieces) {
    const auto now = matcher.push(piece);
    all.text += now.text;
    if (now.stopped) return {all.text, now.which};
  }
  all.text += matcher.flush();
  return all;
}

/// The rule restated: the stop string that is complete first, the longest of those.
outcome slow(const std::vector<std::string>& stops, bool include, const std::string& text) {
  for (std::size_t end = 1; end <= text.size(); ++end) {
    outcome best;
    std::size_t longest = 0;
    for (std::size_t i = 0; i < stops.size(); ++i) {
      if (stops[i].empty() || stops[i].size() <= longest || !std::string_view(text).substr(0, end).ends_with(stops[i]))
        continue;
      longest = stops[i].size();
      best = {text.substr(0, include ? end : end - longest), static_cast<std::int32_t>(i)};
    }
    if (longest > 0) return best;
  }
  return {text};
}

TEST(stop_matcher, finds_a_stop_string_across_pieces_and_emits_none_of_it) {
  stop_matcher matcher({"STOP"}, false);
  EXPECT_EQ(matcher.push("one S").text, "one ");
  EXPECT_EQ(matcher.push("TO").text, "");
  const auto end = matcher.push("P two");
  EXPECT_TRUE(end.stopped);
  EXPECT_EQ(end.text, "");
  EXPECT_EQ(end.which, 0);
}

TEST(stop_matcher, releases_what_can_no_longer_become_a_stop_string) {
  stop_matcher matcher({"STOP"}, false);
  EXPECT_EQ(matcher.push("ST").text, "");
  EXPECT_EQ(matcher.push("ST").text, "ST");
  EXPECT_EQ(matcher.push("A").text, "STA");
  EXPECT_EQ(matcher.push("STO").text, "");
  EXPECT_EQ(matcher.flush(), "STO");
}

TEST(stop_matcher, holds_back_no_more_than_the_longest_beginning) {
  stop_matcher matcher({"aab", "\n\n"}, false);
  EXPECT_EQ(matcher.push("xaa").text, "x");
  EXPECT_EQ(matcher.push("a").text, "a"); // "aa" may still become "aab"
  EXPECT_EQ(matcher.push("\n").text, "aa");
  EXPECT_EQ(matcher.push(" ").text, "\n ");
}

TEST(stop_matcher, keeps_the_stop_string_when_asked) {
  EXPECT_EQ(run({{"</s>"}, true}, {"text<", "/s", ">more"}).text, "text</s>");
}

TEST(stop_matcher, the_first_to_be_complete_wins_then_the_longest) {
  EXPECT_EQ(run({{"abcd", "bc"}, false}, {"abcd"}).text, "a");
  const outcome both = run({{"c", "abc"}, false}, {"xabc"});
  EXPECT_EQ(both.text, "x");
  EXPECT_EQ(both.which, 1);
}

TEST(stop_matcher, without_stop_strings_passes_all_at_once) {
  stop_matcher matcher({""}, false);
  const auto now = matcher.push("anything");
  EXPECT_EQ(now.text, "anything");
  EXPECT_FALSE(now.stopped);
}

TEST(stop_matcher, the_result_does_not_depend_on_where_pieces_end) {
  std::mt19937 random(11);
  const auto word = [&](std::size_t most) {
    std::string made;
    for (std::size_t i = random() % (most + 1); i > 0; --i) made += static_cast<char>('a' + random() % 2);
    return made;
  };
  for (int round = 0; round < 5000; ++round) {
    const std::vector<std::string> stops = {word(4), word(5), word(3)};
    const bool include = round % 2 == 0;
    std::vector<std::string> pieces;
    std::string text;
    for (int i = 0; i < 6; ++i) text += pieces.emplace_back(word(5));
    const outcome fast = run({stops, include}, pieces);
    const outcome wanted = slow(stops, include, text);
    ASSERT_EQ(fast.text, wanted.text) << text << " stops " << stops[0] << "," << stops[1] << "," << stops[2];
    ASSERT_EQ(fast.which < 0, wanted.which < 0);
    if (fast.which >= 0) {
      ASSERT_EQ(stops[static_cast<std::size_t>(fast.which)], stops[static_cast<std::size_t>(wanted.which)]);
    }
  }
}

} // namespace
} // namespace omni::text
