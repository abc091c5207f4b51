#include "kernels/text/detokenizer.hpp"
#include "kernels/text/utf8.hpp"
#include "test/kernels/text/tiny_tokenizer.hpp"

#include <gtest/gtest.h>
#include <random>

namespace omni::text {
namespace {

using ids = std::vector<std::int32_t>;

TEST(detokenizer, sends_a_character_when_its_last_byte_arrives) {
  const tokenizer model = test::tiny_tokenizer();
  detokenizer stream(model, false);
  EXPECT_EQ(stream.push(0xF0), "");
  EXPECT_EQ(stream.push(0x9F), "");
  EXPECT_EQ(stream.push(0x98), "");
  EXPECT_EQ(stream.push(0x80), "\xF0\x9F\x98\x80");
  EXPECT_EQ(stream.push('a'), "a");
  EXPECT_EQ(stream.flush(), "");
}

TEST(detokenizer, replaces_bytes_as_soon_as_they_cannot_become_valid) {
  const tokenizer model = test::tiny_tokenizer();
  detokenizer stream(model, false);
  EXPECT_EQ(stream.push(0xF0), "");
  EXPECT_EQ(stream.push('a'), "\uFFFDa");
  EXPECT_EQ(stream.push(0xC3), "");
  EXPECT_EQ(stream.flush(), "\uFFFD");
  EXPECT_EQ(stream.flush(), "");
}

TEST(detokenizer, leaves_out_special_tokens_when_asked) {
  const tokenizer model = test::tiny_tokenizer();
  const std::int32_t end = *model.id_of("<|im_end|>");
  const std::int32_t think = *model.id_of("<think>");
  EXPECT_EQ(detokenizer(model, true).push(end), "");
  EXPECT_EQ(detokenizer(model, false).push(end), "<|im_end|>");
  EXPECT_EQ(detokenizer(model, true).push(think), "<think>"); // added, but not special
}

TEST(detokenizer, ids_outside_the_vocabulary_give_nothing) {
  const tokenizer model = test::tiny_tokenizer();
  detokenizer stream(model, false);
  EXPECT_EQ(stream.push(-1), "");
  EXPECT_EQ(stream.push(model.vocab_size()), "");
  EXPECT_EQ(model.decode(ids{'a', 1'000'000, 'b'}, false), "ab");
}

TEST(detokenizer, streamed_pieces_equal_the_text_decoded_at_once) {
  const tokenizer model = test::tiny_tokenizer();
  std::mt19937 random(7);
  std::uniform_int_distribution<std::int32_t> any(-2, model.vocab_size() + 2);
  std::uniform_int_distribution<std::int32_t> high(0x80, 0xFF); // makes and breaks characters
  for (int round = 0; round < 2000; ++round) {
    const bool skip = round % 2 == 0;
    ids sequence;
    for (int i = 0; i < 40; ++i) sequence.push_back(round % 3 == 0 ? any(random) : high(random));
    detokenizer stream(model, skip);
    std::string text;
    for (const std::int32_t id : sequence) {
      const std::string piece = stream.push(id);
      ASSERT_TRUE(is_valid_utf8(piece));
      text += piece;
    }
    text += stream.flush();
    ASSERT_EQ(text, model.decode(sequence, skip));
  }
}

} // namespace
} // namespace omni::text
