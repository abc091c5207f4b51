#include "app/cli/launch_plan.hpp"

#include "test/support/golden.hpp"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <unistd.h>

namespace omni::cli {
namespace {

namespace fs = std::filesystem;

/// A folder of its own with empty files in place of models.
class launch_plan_test : public ::testing::Test {
protected:
  launch_plan_test()
      : folder(fs::temp_directory_path() / ("omni_cli_test_" + std::to_string(::getpid()) + "_" +
                                            ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    fs::create_directories(folder / "cache");
    for (const char* name :
         {"cache/SmolLM2-135M-Instruct.Q4_1.gguf", "cache/en_US-joe-medium.onnx", "a.gguf", "v.onnx"})
      write(name, "");
    folders = {.base = folder, .models = folder / "cache", .home = folder};
  }
  ~launch_plan_test() override { fs::remove_all(folder); }

  void write(const std::string& name, const std::string& text) {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  expected<launch_plan> plan(const std::vector<std::string>& arguments) {
    const auto parsed = parse_flags(arguments, "0");
    if (!parsed) return tl::unexpected(parsed.error());
    return make_launch_plan(std::get<serve_options>(*parsed), folders);
  }
  std::string complaint(const std::string& yaml) {
    const auto read = read_deploy_yaml(yaml, "p.yaml", folders);
    return read ? "accepted" : read.error().message;
  }

  fs::path folder;
  model_folders folders;
};

const std::string one_stage = "stages:\n  - model_stage: thinker\n    model: a.gguf\n    final_output_type: text\n";

TEST_F(launch_plan_test, without_flags_the_default_pipeline_is_served) {
  const auto got = plan({});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->served_names, std::vector<std::string>{"smollm2-piper"});
  ASSERT_EQ(got->config.stages.size(), 3U);
  EXPECT_EQ(got->config.stages[0].model_stage, "thinker");
  EXPECT_EQ(got->config.stages[0].model, (folder / "cache/SmolLM2-135M-Instruct.Q4_1.gguf").string());
  EXPECT_EQ(got->config.stages[0].final_output_type, modality::text);
  EXPECT_EQ(got->config.stages[1].final_output_type, std::nullopt);
  EXPECT_EQ(got->config.stages[2].final_output_type, modality::audio);
}

TEST_F(launch_plan_test, every_built_in_pipeline_is_valid) {
  EXPECT_EQ(builtin_pipeline_names(), "piper, qwen3-omni-thinker, qwen3-omni, smollm2-piper");
  const auto got = plan({"--deploy-config", "piper"});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->config.stages.size(), 2U);
}

TEST_F(launch_plan_test, a_missing_default_model_says_which_command_fetches_it) {
  fs::remove(folder / "cache/en_US-joe-medium.onnx");
  const auto got = plan({});
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("app/fetch_models.sh"), std::string::npos) << got.error().message;
}

TEST_F(launch_plan_test, one_text_model_is_one_stage) {
  const auto got = plan({"a.gguf", "--max-num-seqs", "4", "--no-enable-prefix-caching"});
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(got->config.stages.size(), 1U);
  EXPECT_EQ(got->config.stages[0].final_output_type, modality::text);
  EXPECT_EQ(got->config.stages[0].max_num_seqs, 4);
  EXPECT_FALSE(got->config.stages[0].enable_prefix_caching);
  EXPECT_EQ(got->served_names, std::vector<std::string>{"a.gguf"});
}

TEST_F(launch_plan_test, one_voice_is_two_stages) {
  const auto got = plan({"--model", "v.onnx", "--served-model-name", "joe"});
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(got->config.stages.size(), 2U);
  EXPECT_EQ(got->config.stages[0].model_stage, "talker");
  EXPECT_EQ(got->config.stages[1].final_output_type, modality::audio);
  EXPECT_EQ(got->served_names, std::vector<std::string>{"joe"});
}

TEST_F(launch_plan_test, a_model_fills_the_stages_that_name_none) {
  write("p.yaml",
        "stages:\n  - model_stage: thinker\n    final_output_type: text\n  - model_stage: talker\n    model: v.onnx\n");
  const auto got = plan({"--deploy-config", "p.yaml", "--model", "a.gguf"});
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->config.stages[0].model, (folder / "a.gguf").string());
  EXPECT_EQ(got->config.stages[1].model, (folder / "v.onnx").string());
  EXPECT_EQ(got->served_names, std::vector<std::string>{"a.gguf"});
  const auto none = plan({"--deploy-config", "p.yaml"});
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("--model"), std::string::npos) << none.error().message;
  const auto useless = plan({"--deploy-config", "piper", "--model", "a.gguf"});
  ASSERT_FALSE(useless);
  EXPECT_NE(useless.error().message.find("leave it out"), std::string::npos) << useless.error().message;
}

using golden_launch_plan_test = launch_plan_test;

TEST_F(golden_launch_plan_test, a_checkpoint_with_all_stages_is_served_whole_and_without_its_voice_if_asked) {
  const auto checkpoint = (test::golden_dir() / "qwen3_omni" / "model").lexically_normal();
  const auto got = plan({checkpoint.string()});
  ASSERT_TRUE(got) << got.error().message;
  ASSERT_EQ(got->config.stages.size(), 3U);
  EXPECT_EQ(got->config.stages[0].final_output_type, modality::text);
  EXPECT_EQ(got->config.stages[2].final_output_type, modality::audio);
  for (const auto& stage : got->config.stages) EXPECT_EQ(stage.model, checkpoint.string());
  EXPECT_FALSE(got->config.stages[1].default_sampling_params) << "the talker's own, not the text's";
  const auto quiet = plan({checkpoint.string(), "--deploy-config", "qwen3-omni-thinker"});
  ASSERT_TRUE(quiet) << quiet.error().message;
  EXPECT_EQ(quiet->config.stages.size(), 1U);
}

TEST_F(launch_plan_test, a_model_that_is_not_there_is_named) {
  const auto got = plan({"b.gguf"});
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find((folder / "b.gguf").string()), std::string::npos);
}

TEST_F(launch_plan_test, overrides_beat_flags_beat_yaml) {
  write("sub/p.yaml", "pipeline: mine\nmax_num_requests: 9\nstages:\n  - model_stage: thinker\n    model: ../a.gguf\n  "
                      "  final_output_type: text\n"
                      "    max_num_seqs: 2\n    max_num_batched_tokens: 100\n    block_size: 8\n");
  const auto got =
      plan({"--deploy-config", "sub/p.yaml", "--max-num-seqs", "3", "--max-num-batched-tokens", "200",
            "--stage-overrides", R"({"0": {"max_num_seqs": 5, "default_sampling_params": {"temperature": 0}}})"});
  ASSERT_TRUE(got) << got.error().message;
  const stage_config& stage = got->config.stages[0];
  EXPECT_EQ(stage.max_num_seqs, 5);
  EXPECT_EQ(stage.max_num_batched_tokens, 200);
  EXPECT_EQ(stage.block_size, 8);
  EXPECT_EQ(stage.default_sampling_params->temperature, 0);
  EXPECT_EQ(stage.model, (folder / "a.gguf").string());
  EXPECT_EQ(got->config.max_num_requests, 9);
  EXPECT_EQ(got->served_names, std::vector<std::string>{"mine"});
}

TEST_F(launch_plan_test, stage_0_switches_the_statistics_of_all) {
  const auto statistics = [&](const std::string& of_first, const std::vector<std::string>& flags = {}) {
    write("p.yaml", "stages:\n  - model_stage: thinker\n    model: a.gguf\n    final_output_type: text\n" + of_first +
                        "  - model_stage: talker\n    model: v.onnx\n    disable_log_stats: true\n");
    std::vector<std::string> arguments{"--deploy-config", "p.yaml"};
    arguments.insert(arguments.end(), flags.begin(), flags.end());
    const auto got = plan(arguments);
    EXPECT_TRUE(got) << got.error().message;
    return got && got->config.log_stats;
  };
  EXPECT_TRUE(statistics("")) << "the other stages have no say";
  EXPECT_TRUE(statistics("    disable_log_stats: false\n"));
  EXPECT_FALSE(statistics("    disable_log_stats: true\n"));
  EXPECT_TRUE(statistics("    disable_log_stats: true\n", {"--log-stats"})) << "a flag beats the YAML";
  EXPECT_FALSE(statistics("", {"--disable-log-stats"}));
  EXPECT_FALSE(statistics("", {"--stage-overrides", R"({"0": {"disable_log_stats": true}})"}));
}

TEST_F(launch_plan_test, the_timing_line_is_off_unless_it_is_asked_for) {
  EXPECT_FALSE(plan({})->config.log_request_timing);
  EXPECT_TRUE(plan({"--log-request-timing"})->config.log_request_timing);
  EXPECT_FALSE(plan({})->config.metrics_engine_labels);
  EXPECT_TRUE(plan({"--metrics-labels", "engine"})->config.metrics_engine_labels);
}

TEST_F(launch_plan_test, wrong_overrides_are_refused) {
  for (const char* json : {"[]", "{", R"({"7": {}})", R"({"x": {}})", R"({"0": {"num_replica": 2}})", R"({"0": 5})",
                           R"({"0": {"num_replicas": -1}})"})
    EXPECT_FALSE(plan({"--stage-overrides", json})) << json;
}

TEST_F(launch_plan_test, a_directorys_generation_config_comes_below_the_yaml) {
  write(
      "hf/generation_config.json",
      R"({"do_sample": true, "temperature": 0.6, "top_k": 20, "top_p": 0.95, "max_new_tokens": 77, "eos_token_id": [1]})");
  const auto got = read_deploy_yaml("stages:\n  - model_stage: thinker\n    model: hf\n    final_output_type: text\n"
                                    "    default_sampling_params: {top_k: 5, stop: [\"a\", \"1\"], seed: 3}\n",
                                    "p.yaml", folders);
  ASSERT_TRUE(got) << got.error().message;
  const sampling_params& sampling = *got->config.stages[0].default_sampling_params;
  EXPECT_FLOAT_EQ(sampling.temperature, 0.6F);
  EXPECT_FLOAT_EQ(sampling.top_p, 0.95F);
  EXPECT_EQ(sampling.top_k, 5);
  EXPECT_EQ(sampling.max_tokens, 77);
  EXPECT_EQ(sampling.seed, 3U);
  EXPECT_EQ(sampling.stop, (std::vector<std::string>{"a", "1"}));
}

TEST_F(launch_plan_test, a_broken_generation_config_is_named) {
  write("hf/generation_config.json", R"({"temperature": "hot"})");
  const auto got = plan({"hf"});
  ASSERT_FALSE(got);
  EXPECT_NE(got.error().message.find("generation_config.json"), std::string::npos);
}

TEST_F(launch_plan_test, a_good_yaml_is_accepted) { EXPECT_EQ(complaint(one_stage), "accepted"); }

TEST_F(launch_plan_test, an_unknown_key_is_refused_with_its_line_and_the_nearest_key) {
  EXPECT_EQ(complaint(one_stage + "    max_num_seq: 3\n"),
            "p.yaml line 5: stage 0 has no key 'max_num_seq', did you mean 'max_num_seqs'?");
  EXPECT_EQ(complaint("piepline: x\n" + one_stage),
            "p.yaml line 1: the pipeline has no key 'piepline', did you mean 'pipeline'?");
  EXPECT_EQ(complaint(one_stage + "    default_sampling_params:\n      temprature: 0\n"),
            "p.yaml line 6: default_sampling_params has no key 'temprature', did you mean 'temperature'?");
}

TEST_F(launch_plan_test, wrong_values_are_refused_with_their_line) {
  EXPECT_EQ(complaint(one_stage + "    max_num_seqs: many\n"),
            "p.yaml line 5: max_num_seqs of stage 0 must be a whole number from 1 to 65536, found 'many'.");
  EXPECT_EQ(complaint(one_stage + "    enable_prefix_caching: maybe\n"),
            "p.yaml line 5: enable_prefix_caching of stage 0 must be true or false, found 'maybe'.");
  EXPECT_EQ(complaint(one_stage + "    default_sampling_params: {temperature: 9}\n"),
            "p.yaml line 5: default_sampling_params: temperature must be a number from 0 to 2, found 9.");
}

TEST_F(launch_plan_test, hostile_yaml_ends_in_one_sentence) {
  for (const std::string& yaml :
       {std::string(),
        std::string("- a\n"),
        std::string("x"),
        std::string("stages: {a: ["),
        std::string("stages: []\n"),
        std::string("stages: 5\n"),
        std::string("stages:\n  - 5\n"),
        std::string("stages:\n  - model: a.gguf\n    final_output_type: text\n"),
        std::string("stages:\n  - model_stage: thinker\n    final_output_type: text\n"),
        std::string("stages:\n  - model_stage: thinker\n    model: a.gguf\n"),
        one_stage + "    stage_id: 1\n",
        one_stage + "    final_output_type: video\n",
        one_stage + "    max_num_seqs: 99999999999999999999\n",
        one_stage + "    model: [a]\n",
        one_stage + "    max_num_seqs: 3\n    max_num_seqs: 4\n",
        one_stage + "    dtype: int4\n",
        one_stage + "    load_format: random\n",
        one_stage + "async_chunk: false\n",
        one_stage + "? [a]\n: b\n",
        std::string("stages: ") + std::string(10'000, '['),
        one_stage + "    default_sampling_params: 5\n",
        one_stage + "    default_sampling_params: {logit_bias: {\"1\": 2}}\n",
        std::string(2'000'000, 'x'),
        std::string(
            "stages:\n  - model_stage: thinker\n    model: cache://none.gguf\n    final_output_type: text\n")}) {
    const std::string text = complaint(yaml);
    EXPECT_NE(text, "accepted") << yaml.substr(0, 200);
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    EXPECT_TRUE(text.ends_with('.') || text.ends_with('?')) << text;
  }
}

} // namespace
} // namespace omni::cli
