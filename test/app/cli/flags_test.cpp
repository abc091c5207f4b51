#include "app/cli/serve_options.hpp"

#include <gtest/gtest.h>

namespace omni::cli {
namespace {

expected<serve_options> parse(const std::vector<std::string>& arguments) {
  auto parsed = parse_flags(arguments, "1.2.3");
  if (!parsed) return tl::unexpected(parsed.error());
  return std::get<serve_options>(*parsed);
}

std::string complaint(const std::vector<std::string>& arguments) {
  const auto parsed = parse(arguments);
  return parsed ? "accepted" : parsed.error().message;
}

TEST(flags, without_any_nothing_is_overridden) {
  const auto options = parse({});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->host, "127.0.0.1");
  EXPECT_EQ(options->port, 8000);
  EXPECT_TRUE(options->model.empty());
  EXPECT_FALSE(options->max_num_seqs);
  EXPECT_FALSE(options->enable_prefix_caching);
  EXPECT_FALSE(options->log_stats);
}

TEST(flags, the_model_may_be_positional_or_named) {
  EXPECT_EQ(parse({"a.gguf"})->model, "a.gguf");
  EXPECT_EQ(parse({"--model", "a.gguf"})->model, "a.gguf");
  EXPECT_EQ(parse({"--model=a.gguf", "--omni"})->model, "a.gguf");
}

TEST(flags, media_come_from_requests_alone_unless_allowed) {
  EXPECT_TRUE(parse({})->allowed_local_media_path.empty());
  EXPECT_FALSE(parse({})->allow_remote_media);
  const auto options = parse({"--allowed-local-media-path", "/tmp", "--allow-remote-media"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->allowed_local_media_path, "/tmp");
  EXPECT_TRUE(options->allow_remote_media);
  EXPECT_NE(complaint({"--allowed-local-media-path", "/no/such/folder"}), "accepted");
}

TEST(flags, values_arrive) {
  const auto options = parse({"--port",
                              "0",
                              "--host",
                              "::1",
                              "--api-key",
                              "a",
                              "--api-key",
                              "b",
                              "--served-model-name",
                              "m",
                              "--served-model-name",
                              "n",
                              "--max-num-seqs",
                              "3",
                              "--kv-cache-memory-bytes",
                              "1000000000000",
                              "--no-enable-prefix-caching",
                              "--disable-log-stats",
                              "--log-stats-interval",
                              "2.5",
                              "--max-num-queued-reqs",
                              "7",
                              "--drain-timeout",
                              "1",
                              "--dtype",
                              "float32",
                              "--load-format",
                              "dummy",
                              "--threads",
                              "2",
                              "--seed",
                              "9"});
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->port, 0);
  EXPECT_EQ(options->host, "::1");
  EXPECT_EQ(options->api_keys, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(options->served_model_names, (std::vector<std::string>{"m", "n"}));
  EXPECT_EQ(options->max_num_seqs, 3);
  EXPECT_EQ(options->kv_cache_memory_bytes, 1000000000000);
  EXPECT_EQ(options->enable_prefix_caching, false);
  EXPECT_EQ(options->log_stats, false);
  EXPECT_EQ(options->log_stats_interval_s, 2.5);
  EXPECT_EQ(options->max_num_queued_reqs, 7);
  EXPECT_EQ(options->drain_timeout_s, 1);
  EXPECT_EQ(options->dtype, "float32");
  EXPECT_EQ(options->load_format, "dummy");
  EXPECT_EQ(options->threads, 2);
  EXPECT_EQ(options->seed, 9U);
}

TEST(flags, statistics_are_on_unless_they_are_disabled) {
  EXPECT_FALSE(parse({})->log_stats) << "the pipeline's own word, which is yes by default";
  EXPECT_EQ(parse({"--log-stats"})->log_stats, true);
  EXPECT_EQ(parse({"--disable-log-stats"})->log_stats, false);
  EXPECT_FALSE(parse({"--log-stats"})->log_request_timing);
  EXPECT_EQ(parse({"--log-request-timing"})->log_request_timing, true);
  EXPECT_EQ(parse({"--metrics-labels", "engine"})->metrics_labels, "engine");
}

TEST(flags, a_plan_has_flags_of_its_own) {
  const auto options = parse({"--plan", "--plan-device", "h200", "--plan-context", "4096", "a.gguf"});
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->plan);
  EXPECT_EQ(options->plan_device, "h200");
  EXPECT_EQ(options->plan_context, 4096);
  EXPECT_FALSE(parse({"a.gguf"})->plan);
  EXPECT_NE(complaint({"--plan-device", "h200"}).find("add it"), std::string::npos);
}

TEST(flags, a_key_or_a_name_does_not_swallow_the_model) {
  EXPECT_EQ(parse({"--api-key", "secret", "a.gguf"})->model, "a.gguf");
  EXPECT_EQ(parse({"--served-model-name", "m", "a.gguf"})->model, "a.gguf");
  EXPECT_EQ(parse({"--allowed-origins", "http://a", "a.gguf"})->model, "a.gguf");
}

TEST(flags, a_wrong_flag_is_one_sentence_with_the_nearest_known_one) {
  EXPECT_NE(complaint({"--max-num-seq", "3"}).find("did you mean --max-num-seqs?"), std::string::npos)
      << complaint({"--max-num-seq", "3"});
  for (const auto& arguments :
       std::vector<std::vector<std::string>>{{"--port", "x"},
                                             {"--port", "65536"},
                                             {"--port"},
                                             {"--max-num-seqs", "0"},
                                             {"--dtype", "int3"},
                                             {"--load-format", "gguf"},
                                             {"--allowed-origins", "[\"http://a\"]"},
                                             {"--wibble"},
                                             {"--drain-timeout", "nan"},
                                             {"--log-stats-interval", "nan"},
                                             {"--log-stats-interval", "0"},
                                             {"--seed", "-1"},
                                             {"--block-size", "8"},
                                             {"--host", ""},
                                             {"--api-key", ""},
                                             {"--model", ""},
                                             {"--served-model-name", ""},
                                             {"--deploy-config", ""},
                                             {"a.gguf", "b.gguf"},
                                             {"--log-stats", "--disable-log-stats"},
                                             {"--log-request-timing", "--disable-log-stats"},
                                             {"--metrics-labels", "replica"}}) {
    const std::string text = complaint(arguments);
    EXPECT_NE(text, "accepted") << arguments.front();
    EXPECT_TRUE(text.ends_with('.')) << text;
    EXPECT_EQ(text.find('\n'), std::string::npos) << text;
  }
}

TEST(flags, help_and_version_are_texts_to_print) {
  const auto help = parse_flags({"--help"}, "1.2.3");
  ASSERT_TRUE(help);
  const std::string& text = std::get<early_exit>(*help).text;
  for (const char* part : {"Model:", "Server:", "Scheduling and memory:", "Statistics:", "--max-num-seqs", "--api-key"})
    EXPECT_NE(text.find(part), std::string::npos) << part;
  EXPECT_EQ(std::get<early_exit>(*parse_flags({"--version"}, "1.2.3")).text, "omni-serve 1.2.3\n");
}

} // namespace
} // namespace omni::cli
