#include "actors/stage/text_stream.hpp"

#include "test/support/fake_runner.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

using test::fake_tokenizer;

struct heard {
  std::string text;
  std::optional<std::string> stopped_by;
};

heard run(text_stream& stream, std::string_view said, int may_stop_from = 0) {
  heard all;
  int count = 0;
  for (const auto token : test::fake_tokens(said)) {
    auto piece = stream.push(token, ++count > may_stop_from);
    all.text += piece.text;
    all.stopped_by = piece.stopped_by;
    if (all.stopped_by) return all;
  }
  all.text += stream.flush();
  return all;
}

TEST(text_stream, holds_a_character_back_until_it_is_whole) {
  text_stream stream(&fake_tokenizer(), {});
  EXPECT_EQ(stream.push(0xC3, true).text, "");
  EXPECT_EQ(stream.push(0xA9, true).text, "\u00e9");
  EXPECT_EQ(stream.push(0xC3, true).text, "");
  EXPECT_EQ(stream.flush(), "\uFFFD");
}

TEST(text_stream, never_gives_out_a_part_of_a_stop_string) {
  sampling_params sampling;
  sampling.stop = {"END"};
  text_stream stream(&fake_tokenizer(), sampling);
  EXPECT_EQ(stream.push('a', true).text, "a");
  EXPECT_EQ(stream.push('E', true).text, "");
  EXPECT_EQ(stream.push('N', true).text, "");
  EXPECT_EQ(stream.push('x', true).text, "ENx");
  const auto rest = run(stream, "yEND");
  EXPECT_EQ(rest.text, "y");
  EXPECT_EQ(rest.stopped_by, "END");
}

TEST(text_stream, gives_out_at_the_end_what_did_not_become_a_stop_string) {
  sampling_params sampling;
  sampling.stop = {"END"};
  text_stream stream(&fake_tokenizer(), sampling);
  const auto all = run(stream, "abEN");
  EXPECT_EQ(all.text, "abEN");
  EXPECT_FALSE(all.stopped_by);
}

TEST(text_stream, counts_no_stop_string_in_the_first_tokens) {
  sampling_params sampling;
  sampling.stop = {"ab"};
  text_stream stream(&fake_tokenizer(), sampling);
  const auto all = run(stream, "ababxab", 4);
  EXPECT_EQ(all.text, "ababx");
  EXPECT_EQ(all.stopped_by, "ab");
}

TEST(text_stream, includes_the_stop_string_when_asked_to) {
  sampling_params sampling;
  sampling.stop = {"no", "stop"};
  sampling.include_stop_str_in_output = true;
  text_stream stream(&fake_tokenizer(), sampling);
  const auto all = run(stream, "do stop it");
  EXPECT_EQ(all.text, "do stop");
  EXPECT_EQ(all.stopped_by, "stop");
}

TEST(text_stream, leaves_special_tokens_out_unless_asked_for) {
  sampling_params sampling;
  text_stream without(&fake_tokenizer(), sampling);
  EXPECT_EQ(without.push(test::fake_eos, true).text, "");
  sampling.skip_special_tokens = false;
  text_stream with(&fake_tokenizer(), sampling);
  EXPECT_EQ(with.push(test::fake_eos, true).text, "<end>");
}

TEST(text_stream, has_no_text_without_a_tokenizer) {
  text_stream stream(nullptr, {});
  EXPECT_EQ(stream.push('a', true).text, "");
  EXPECT_EQ(stream.flush(), "");
}

} // namespace
} // namespace omni
