#include "actors/request_check.hpp"
#include "test/support/fake_stages.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <limits>

namespace omni {
namespace {

class request_check : public testing::Test {
protected:
  request_check() {
    limits.max_model_len = 32;
    limits.vocab_size = 100;
    what.prompt = {1, 2, 3};
  }
  expected<void> check() { return check_request(what, graph, &limits); }
  std::string refused() {
    const auto good = check();
    return good ? "accepted" : good.error().param;
  }

  stage_graph graph = *stage_graph::make({test::fake_stage("thinker", modality::text), test::fake_stage("talker"),
                                          test::fake_stage("code2wav", modality::audio)});
  runner_info limits;
  request what;
};

TEST_F(request_check, accepts_the_defaults) { EXPECT_TRUE(check()); }

TEST_F(request_check, names_the_number_that_is_out_of_range) {
  const std::pair<const char*, std::function<void(request&)>> cases[] = {
      {"n", [](request& x) { x.n = 0; }},
      {"n", [](request& x) { x.n = 129; }},
      {"temperature", [](request& x) { x.sampling.temperature = -0.1F; }},
      {"temperature", [](request& x) { x.sampling.temperature = std::numeric_limits<float>::quiet_NaN(); }},
      {"temperature", [](request& x) { x.sampling.temperature = HUGE_VALF; }},
      {"top_p", [](request& x) { x.sampling.top_p = 0; }},
      {"top_p", [](request& x) { x.sampling.top_p = 1.5F; }},
      {"top_k", [](request& x) { x.sampling.top_k = -1; }},
      {"min_p", [](request& x) { x.sampling.min_p = 2; }},
      {"repetition_penalty", [](request& x) { x.sampling.repetition_penalty = 0; }},
      {"presence_penalty", [](request& x) { x.sampling.presence_penalty = 3; }},
      {"frequency_penalty", [](request& x) { x.sampling.frequency_penalty = -3; }},
      {"max_tokens", [](request& x) { x.sampling.max_tokens = 0; }},
      {"min_tokens", [](request& x) { x.sampling.min_tokens = -1; }},
      {"logprobs", [](request& x) { x.sampling.logprobs = 21; }},
      {"speed", [](request& x) { x.voice.speed = 5; }},
      {"logit_bias",
       [](request& x) {
         x.sampling.logit_bias = {{100, 1.0F}};
       }},
      {"logit_bias",
       [](request& x) {
         x.sampling.logit_bias = {{1, 101.0F}};
       }},
      {"stop",
       [](request& x) {
         x.sampling.stop = {"a", ""};
       }},
      {"messages",
       [](request& x) {
         x.prompt = {1, 100};
       }},
      {"messages", [](request& x) { x.prompt = {-1}; }},
      {"messages", [](request& x) { x.prompt = {}; }},
  };
  const auto good = what;
  for (const auto& [param, spoil] : cases) {
    what = good;
    spoil(what);
    EXPECT_EQ(refused(), param);
  }
}

TEST_F(request_check, says_what_a_number_must_be_and_what_it_is) {
  what.sampling.top_p = 1.5F;
  EXPECT_EQ(check().error().message, "\"top_p\" must be above 0 and at most 1, but it is 1.5.");
  what.sampling.top_p = 1;
  what.sampling.temperature = -2;
  EXPECT_EQ(check().error().message, "\"temperature\" must be at least 0, but it is -2.");
}

TEST_F(request_check, refuses_more_min_tokens_than_max_tokens) {
  what.sampling.max_tokens = 4;
  what.sampling.min_tokens = 5;
  EXPECT_EQ(refused(), "min_tokens");
}

TEST_F(request_check, refuses_several_choices_with_audio) {
  what.n = 2;
  EXPECT_TRUE(check());
  what.want_audio = true;
  EXPECT_EQ(refused(), "n");
}

TEST_F(request_check, refuses_prompts_that_leave_no_room) {
  what.prompt.assign(31, 1);
  EXPECT_TRUE(check());
  what.prompt.assign(32, 1);
  EXPECT_EQ(check().error().code, errc::context_too_long);
  what.prompt.assign(20, 1);
  what.sampling.max_tokens = 12;
  EXPECT_TRUE(check());
  what.sampling.max_tokens = 13;
  EXPECT_EQ(check().error().code, errc::context_too_long);
}

} // namespace
} // namespace omni
