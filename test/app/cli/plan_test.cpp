#include "app/cli/plan.hpp"

#include "test/kernels/weights/file_builder.hpp"
#include "test/support/qwen3_omni_config.hpp"

#include <gmock/gmock.h>

namespace omni::cli {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;

machine h200() { return *find_machine("h200", 1); }

/// The three stages of a folder.
engine_config stages_of(const std::filesystem::path& folder) {
  engine_config config;
  for (const char* part : {"thinker", "talker", "code2wav"}) {
    auto& stage = config.stages.emplace_back();
    stage.id.value = std::int32_t(config.stages.size()) - 1;
    stage.model_stage = part;
    stage.model = folder.string();
    stage.max_num_seqs = 32;
  }
  return config;
}

std::string plan_of_real_omni(const machine& on, std::optional<std::int64_t> context = {}) {
  const test::temporary_folder folder;
  test::write_config(folder.path(), test::real_qwen3_omni_config());
  auto text = describe_costs(stages_of(folder.path()), on, context);
  EXPECT_TRUE(text) << text.error().message;
  return text.value_or("");
}

// Figures: spec/models/performance_floors.md.
TEST(plan, shows_the_floors_of_the_real_omni_model) {
  const auto text = plan_of_real_omni(h200());
  EXPECT_THAT(text, HasSubstr("text decoder 56.87 GiB, audio encoder 1.207 GiB, vision encoder 1.003 GiB"));
  EXPECT_THAT(text, HasSubstr("98304 B of keys and values"));
  EXPECT_THAT(text, ContainsRegex("decode, 1 sequence +6.084 GB +6.084 GFLOP +1.268 ms +memory +789 tokens/s"));
  EXPECT_THAT(text, ContainsRegex("decode, 32 sequences +53.09 GB .* 11.06 ms +memory +2893 tokens/s"));
  EXPECT_THAT(text, ContainsRegex("code predictor, 1 frame +2.423 GB +2.580 GFLOP +504.7 us +memory"));
  EXPECT_THAT(text, ContainsRegex("seeing, a picture of 768 x 768 .* compute"));
  EXPECT_THAT(text, ContainsRegex("a call of 1 frame +729.8 MB +5.115 GFLOP"));
}

TEST(plan, says_how_many_streams_fit) {
  const auto text = plan_of_real_omni(h200(), 8192);
  EXPECT_THAT(text, HasSubstr("832.0 MiB at 8192 tokens"));
  EXPECT_THAT(text, ContainsRegex("decode, 32 sequences of 8192 tokens +78.86 GB"));
  // 72.34 GiB beside the weights; 832 MiB, 160 MiB and 5 MiB of a stream
  EXPECT_THAT(text, HasSubstr("so 74 fit into the other 72.34 GiB"));
  EXPECT_THAT(text, HasSubstr("stage 0: kv_cache_memory_bytes " + std::to_string(74LL * 8192 * (98304 + 8192))));
}

TEST(plan, says_that_a_model_does_not_fit) {
  EXPECT_THAT(plan_of_real_omni(*find_machine("100,1,24", 1)), HasSubstr("they need 42.66 GiB more than there is"));
}

TEST(plan, a_broken_configuration_is_a_sentence) {
  const test::temporary_folder folder;
  folder.write("config.json", "{}");
  const auto text = describe_costs(stages_of(folder.path()), h200(), {});
  ASSERT_FALSE(text);
  EXPECT_THAT(text.error().message, HasSubstr("config.json"));
}

TEST(machine, is_named_or_given_in_numbers) {
  EXPECT_EQ(h200().bytes_per_s, 4.8e12);
  const auto given = find_machine("20.5,0.25,64", 1);
  ASSERT_TRUE(given);
  EXPECT_EQ(given->bytes_per_s, 20.5e9);
  EXPECT_EQ(given->flops_per_s, 0.25e12);
  EXPECT_EQ(given->memory_bytes, 64.0 * 1024 * 1024 * 1024);
  for (const char* wrong : {"h300", "1,2", "1,2,3,4", "1,2,3x", "0,1,1", "-1,1,1", "nan,1,1", "inf,1,1"})
    EXPECT_FALSE(find_machine(wrong, 1)) << wrong;
}

TEST(machine, this_one_is_timed) {
  const auto here = find_machine("cpu", 2);
  ASSERT_TRUE(here);
  EXPECT_GT(here->bytes_per_s, 0);
  EXPECT_GT(here->flops_per_s, 0);
  EXPECT_GT(here->memory_bytes, 0);
}

} // namespace
} // namespace omni::cli
