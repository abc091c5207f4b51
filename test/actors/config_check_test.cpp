#include "actors/config_check.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

engine_config good() {
  engine_config config;
  config.stages.resize(2);
  config.stages[1].id = {1};
  return config;
}

TEST(config_check, accepts_the_defaults_and_zero_replicas) {
  auto config = good();
  EXPECT_TRUE(check_config(config));
  config.stages[0].num_replicas = 0;
  EXPECT_TRUE(check_config(config));
}

TEST(config_check, names_the_stage_and_the_key_at_fault) {
  auto config = good();
  config.stages[1].max_num_seqs = 0;
  EXPECT_EQ(check_config(config).error().message, "Stage 1: max_num_seqs must be from 1 to 4096, but it is 0.");
}

TEST(config_check, refuses_a_step_that_cannot_hold_a_token_of_each_sequence) {
  auto config = good();
  config.stages[0].max_num_seqs = 64;
  config.stages[0].max_num_batched_tokens = 63;
  EXPECT_EQ(check_config(config).error().param, "max_num_batched_tokens");
}

TEST(config_check, refuses_what_cannot_be) {
  EXPECT_FALSE(check_config({}));
  auto config = good();
  config.stages[1].id = {7};
  EXPECT_EQ(check_config(config).error().param, "stage_id");
  config = good();
  config.dispatch_timeout_s = -1;
  EXPECT_EQ(check_config(config).error().param, "dispatch_timeout_s");
  config = good();
  config.max_num_requests = 0;
  EXPECT_EQ(check_config(config).error().param, "max_num_requests");
  config = good();
  config.stages[0].num_replicas = -1;
  EXPECT_EQ(check_config(config).error().param, "num_replicas");
}

} // namespace
} // namespace omni
