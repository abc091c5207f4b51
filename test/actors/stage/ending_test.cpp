#include "actors/stage/ending.hpp"

#include <gtest/gtest.h>
#include <vector>

namespace omni {
namespace {

const std::vector<std::int32_t> eos{7, 8};

std::optional<ending> after(std::int32_t token, const sampling_params& sampling, std::int64_t generated,
                            std::int64_t length = 10) {
  return ending_after(token, sampling, eos, generated, length, 100);
}

TEST(ending, goes_on_after_an_ordinary_token) { EXPECT_FALSE(after(1, {}, 1)); }

TEST(ending, stops_at_any_end_of_text_token) {
  const auto over = after(8, {}, 1);
  ASSERT_TRUE(over);
  EXPECT_EQ(over->reason, finish_reason::stop);
  EXPECT_TRUE(over->stop_reason.empty());
  EXPECT_TRUE(over->by_token);
}

TEST(ending, ignores_end_of_text_when_told_to) {
  sampling_params sampling;
  sampling.ignore_eos = true;
  EXPECT_FALSE(after(7, sampling, 1));
}

TEST(ending, names_the_stop_token_even_when_end_of_text_is_ignored) {
  sampling_params sampling;
  sampling.ignore_eos = true;
  sampling.stop_token_ids = {7};
  EXPECT_EQ(after(7, sampling, 1)->stop_reason, "7");
}

TEST(ending, waits_for_min_tokens) {
  sampling_params sampling;
  sampling.min_tokens = 3;
  EXPECT_FALSE(after(7, sampling, 2));
  EXPECT_TRUE(after(7, sampling, 3));
}

TEST(ending, ends_at_max_tokens_and_at_the_context) {
  sampling_params sampling;
  sampling.max_tokens = 4;
  EXPECT_FALSE(after(1, sampling, 3));
  EXPECT_EQ(after(1, sampling, 4)->reason, finish_reason::length);
  EXPECT_FALSE(after(1, sampling, 4)->by_token);
  EXPECT_EQ(after(1, {}, 50, 100)->reason, finish_reason::length);
  EXPECT_FALSE(after(1, {}, 50, 99));
}

TEST(ending, obeys_the_context_before_min_tokens) {
  sampling_params sampling;
  sampling.min_tokens = 60;
  EXPECT_EQ(after(1, sampling, 50, 100)->reason, finish_reason::length);
}

TEST(ending, counts_the_last_token_as_a_stop_when_it_is_one) {
  sampling_params sampling;
  sampling.max_tokens = 4;
  EXPECT_EQ(after(7, sampling, 4)->reason, finish_reason::stop);
}

} // namespace
} // namespace omni
