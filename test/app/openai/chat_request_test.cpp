#include "app/openai/chat_request.hpp"

#include "kernels/text/tokenizer.hpp"
#include "test/app/support/sample_pipeline.hpp"

#include <algorithm>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace omni::openai {
namespace {

const std::string hello = R"("messages": [{"role": "user", "content": "hello"}])";

const media::reader no_media{{}};

expected<chat_request> read(const std::string& fields,
                            std::shared_ptr<const pipeline_facts> facts = test::sample_pipeline()) {
  return read_chat(json::parse("{" + fields + "}"), std::move(facts), no_media, false);
}

std::string prompt_of(const chat_request& asked) { return asked.pipeline->tokenizer->decode(asked.work.prompt, false); }

struct bad_field {
  std::string fields;
  std::string param;
};

class bad_chat_field : public ::testing::TestWithParam<bad_field> {};

TEST_P(bad_chat_field, is_refused_by_name) {
  const auto got = read(GetParam().fields);
  ASSERT_FALSE(got) << GetParam().fields;
  EXPECT_EQ(got.error().code, errc::invalid_request);
  EXPECT_EQ(got.error().param, GetParam().param) << got.error().message;
  EXPECT_TRUE(got.error().message.ends_with('.')) << got.error().message;
}

std::vector<bad_field> with_hello(const std::vector<bad_field>& rows) {
  std::vector<bad_field> out;
  for (const auto& row : rows) out.push_back({hello + ", " + row.fields, row.param});
  return out;
}

INSTANTIATE_TEST_SUITE_P(
    messages, bad_chat_field,
    ::testing::ValuesIn(std::vector<bad_field>{
        {R"("model": "default")", "messages"},
        {R"("messages": null)", "messages"},
        {R"("messages": "hi")", "messages"},
        {R"("messages": [])", "messages"},
        {R"("messages": ["hi"])", "messages[0]"},
        {R"("messages": [{"content": "x"}])", "messages[0].role"},
        {R"("messages": [{"role": 3, "content": "x"}])", "messages[0].role"},
        {R"("messages": [{"role": "robot", "content": "x"}])", "messages[0].role"},
        {R"("messages": [{"role": "user"}])", "messages[0].content"},
        {R"("messages": [{"role": "user", "content": 5}])", "messages[0].content"},
        {R"("messages": [{"role": "user", "content": "x"}, {"role": "user", "content": ["x"]}])",
         "messages[1].content[0]"},
        {R"("messages": [{"role": "user", "content": [{"text": "x"}]}])", "messages[0].content[0].type"},
        {R"("messages": [{"role": "user", "content": [{"type": "text"}]}])", "messages[0].content[0].text"},
        {R"("messages": [{"role": "user", "content": [{"type": "text", "text": "x"}, {"type": "image_url", "image_url": {"url": "x"}}]}])",
         "messages[0].content[1].type"},
        {R"("messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {}}]}])",
         "messages[0].content[0].type"},
        {R"("messages": [{"role": "assistant", "content": null}])", "messages[0].content"},
        {R"("messages": [{"role": "assistant", "audio": {"id": "audio-1"}}])", "messages[0].audio"},
        {R"("messages": [{"role": "assistant", "tool_calls": ["x"]}])", "messages[0].tool_calls[0]"},
        {R"("messages": [{"role": "assistant", "tool_calls": [{"function": {"name": "f", "arguments": "{"}}]}])",
         "messages[0].tool_calls[0].function.arguments"},
        {R"("messages": [{"role": "user", "content": "x", "name": 5}])", "messages[0].name"},
    }));

INSTANTIATE_TEST_SUITE_P(sampler, bad_chat_field,
                         ::testing::ValuesIn(with_hello({
                             {R"("temperature": "hot")", "temperature"},
                             {R"("temperature": -0.1)", "temperature"},
                             {R"("temperature": 2.1)", "temperature"},
                             {R"("temperature": true)", "temperature"},
                             {R"("top_p": 0)", "top_p"},
                             {R"("top_p": 1.01)", "top_p"},
                             {R"("top_k": -2)", "top_k"},
                             {R"("top_k": 1.5)", "top_k"},
                             {R"("top_k": 3000000000)", "top_k"},
                             {R"("min_p": 2)", "min_p"},
                             {R"("repetition_penalty": 0)", "repetition_penalty"},
                             {R"("presence_penalty": 3)", "presence_penalty"},
                             {R"("frequency_penalty": -2.5)", "frequency_penalty"},
                             {R"("seed": 18446744073709551616)", "seed"},
                             {R"("seed": 9223372036854775808)", "seed"},
                             {R"("seed": "x")", "seed"},
                             {R"("max_tokens": 0)", "max_tokens"},
                             {R"("max_tokens": "5")", "max_tokens"},
                             {R"("max_completion_tokens": -1)", "max_completion_tokens"},
                             {R"("max_tokens": 5, "min_tokens": 6)", "min_tokens"},
                             {R"("min_tokens": -1)", "min_tokens"},
                             {R"("stop": 5)", "stop"},
                             {R"("stop": "")", "stop"},
                             {R"("stop": ["a", 5])", "stop"},
                             {R"("stop_token_ids": [1, 257])", "stop_token_ids[1]"},
                             {R"("stop_token_ids": 5)", "stop_token_ids"},
                             {R"("ignore_eos": 1)", "ignore_eos"},
                             {R"("skip_special_tokens": "no")", "skip_special_tokens"},
                             {R"("logit_bias": [])", "logit_bias"},
                             {R"("logit_bias": {"257": 1})", "logit_bias"},
                             {R"("logit_bias": {"x": 1})", "logit_bias"},
                             {R"("logit_bias": {"5": 101})", "logit_bias"},
                             {R"("logprobs": 3)", "logprobs"},
                             {R"("top_logprobs": 2)", "top_logprobs"},
                             {R"("logprobs": true, "top_logprobs": 21)", "top_logprobs"},
                             {R"("n": 0)", "n"},
                             {R"("n": 129)", "n"},
                             {R"("n": 2, "modalities": ["text", "audio"])", "n"},
                         })));

INSTANTIATE_TEST_SUITE_P(
    others, bad_chat_field,
    ::testing::ValuesIn(with_hello({
        {R"("stream": "yes")", "stream"},
        {R"("stream_options": {"include_usage": true})", "stream_options"},
        {R"("stream": true, "stream_options": [])", "stream_options"},
        {R"("stream": true, "stream_options": {"include_usage": 1})", "stream_options.include_usage"},
        {R"("modalities": "text")", "modalities"},
        {R"("modalities": [])", "modalities"},
        {R"("modalities": ["text", "image"])", "modalities[1]"},
        {R"("modalities": ["audio"], "audio": {"voice": "nobody"})", "audio.voice"},
        {R"("modalities": ["audio"], "audio": {"voice": {"id": 3}})", "audio.voice"},
        {R"("modalities": ["audio"], "audio": {"format": "mp3"})", "audio.format"},
        {R"("audio": "wav")", "audio"},
        {R"("voice": "nobody")", "voice"},
        {R"("speaker": 7)", "speaker"},
        {R"("speed": 5)", "speed"},
        {R"("response_format": {"type": "json_object"})", "response_format.type"},
        {R"("response_format": "json")", "response_format"},
        {R"("tools": {})", "tools"},
        {R"("tools": ["f"])", "tools[0]"},
        {R"("tools": [{"type": "function"}])", "tools[0].function"},
        {R"("tools": [{"type": "function", "function": {}}])", "tools[0].function.name"},
        {R"("tool_choice": "required")", "tool_choice"},
        {R"("tool_choice": {"type": "function", "function": {"name": "f"}})", "tool_choice"},
        {R"("chat_template": "x")", "chat_template"},
        {R"("chat_template_kwargs": [])", "chat_template_kwargs"},
        {R"("add_generation_prompt": 1)", "add_generation_prompt"},
        {R"("add_generation_prompt": true, "continue_final_message": true)", "continue_final_message"},
        {R"("use_beam_search": true)", "use_beam_search"},
        {R"("return_token_ids": "x")", "return_token_ids"},
        {R"("sampling_params_list": {})", "sampling_params_list"},
        {R"("sampling_params_list": [{}, {}, {}, {}])", "sampling_params_list"},
        {R"("sampling_params_list": ["x"])", "sampling_params_list[0]"},
        {R"("sampling_params_list": [{"temperature": -1}])", "sampling_params_list[0].temperature"},
    })));

TEST(chat_request, null_is_absent_and_unknown_fields_are_ignored) {
  const auto got = read(
      hello +
      R"(, "temperature": null, "stop": null, "audio": null, "modalities": null, "wibble": {"x": 1}, "user": "me")");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_TRUE(got->work.want_text);
  EXPECT_FALSE(got->work.want_audio);
  EXPECT_EQ(got->work.sampling.max_tokens, -1);
}

TEST(chat_request, a_limit_of_the_pipeline_gives_way_to_a_long_prompt_but_a_clients_does_not) {
  const auto facts = test::sample_pipeline();
  facts->sampling.max_tokens = 120;
  const auto limit = [&](const std::string& more) {
    const auto got =
        read("\"messages\": [{\"role\": \"user\", \"content\": \"" + std::string(30, 'a') + "\"}]" + more, facts);
    EXPECT_TRUE(got) << got.error().message;
    return got->work.sampling.max_tokens + std::int32_t(got->work.prompt.size());
  };
  EXPECT_EQ(limit(""), facts->max_model_len);
  EXPECT_GT(limit(R"(, "max_tokens": 120)"), facts->max_model_len) << "which the engine refuses";
  facts->sampling.max_tokens = 5;
  EXPECT_LT(limit(""), facts->max_model_len);
}

TEST(chat_request, an_object_of_a_voice_stage_is_laid_over_its_own_sampling) {
  const auto facts = test::sample_pipeline();
  facts->stage_sampling[1].top_k = 50;
  const auto got =
      read(hello + R"(, "sampling_params_list": [{"top_p": 0.5}, {"temperature": 0.3, "seed": 4}])", facts);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->work.sampling.top_p, 0.5F);
  ASSERT_EQ(got->work.stage_sampling.size(), 3u);
  EXPECT_FALSE(got->work.stage_sampling[0]);
  EXPECT_EQ(got->work.stage_sampling[1]->temperature, 0.3F);
  EXPECT_EQ(got->work.stage_sampling[1]->top_k, 50);
  EXPECT_EQ(got->work.stage_sampling[1]->seed, 4u);
  EXPECT_EQ(got->work.voice.seed, 4u);
}

TEST(chat_request, every_sampler_field_arrives) {
  const auto got =
      read(hello + R"(, "temperature": 0.5, "top_p": 0.9, "top_k": -1, "min_p": 0.1, "repetition_penalty": 1.2,
      "presence_penalty": -1, "frequency_penalty": 2, "seed": -1, "max_tokens": 9, "max_completion_tokens": 8, "min_tokens": 2.0,
      "ignore_eos": true, "stop": ["a", "b"], "stop_token_ids": [3], "include_stop_str_in_output": true, "skip_special_tokens": false,
      "logit_bias": {"7": -100}, "logprobs": true, "top_logprobs": 4, "n": 3)");
  ASSERT_TRUE(got) << got.error().message;
  const sampling_params& sampling = got->work.sampling;
  EXPECT_FLOAT_EQ(sampling.temperature, 0.5F);
  EXPECT_FLOAT_EQ(sampling.top_p, 0.9F);
  EXPECT_EQ(sampling.top_k, 0);
  EXPECT_FLOAT_EQ(sampling.min_p, 0.1F);
  EXPECT_FLOAT_EQ(sampling.repetition_penalty, 1.2F);
  EXPECT_FLOAT_EQ(sampling.presence_penalty, -1);
  EXPECT_FLOAT_EQ(sampling.frequency_penalty, 2);
  EXPECT_EQ(sampling.seed, ~std::uint64_t{0});
  EXPECT_EQ(sampling.max_tokens, 8);
  EXPECT_EQ(sampling.min_tokens, 2);
  EXPECT_TRUE(sampling.ignore_eos);
  EXPECT_EQ(sampling.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(sampling.stop_token_ids, std::vector<std::int32_t>{3});
  EXPECT_TRUE(sampling.include_stop_str_in_output);
  EXPECT_FALSE(sampling.skip_special_tokens);
  ASSERT_EQ(sampling.logit_bias.size(), 1U);
  EXPECT_EQ(sampling.logit_bias[0].first, 7);
  EXPECT_EQ(sampling.logprobs, 4);
  EXPECT_EQ(got->work.n, 3);
}

TEST(chat_request, an_audio_object_chooses_openais_shape_and_means_sound) {
  const auto got = read(hello + R"(, "audio": {"format": "pcm16", "voice": {"id": "BOB"}, "speed": 2})");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->shape, chat_shape::openai);
  EXPECT_EQ(got->format, sound_format::pcm);
  EXPECT_TRUE(got->work.want_audio);
  EXPECT_EQ(got->work.voice.speaker, "Bob");
  EXPECT_FLOAT_EQ(got->work.voice.speed, 2);
}

TEST(chat_request, modalities_without_an_audio_object_choose_the_other_shape) {
  const auto got = read(hello + R"(, "modalities": ["audio"], "speaker": "default")");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(got->shape, chat_shape::omni);
  EXPECT_FALSE(got->work.want_text);
  EXPECT_EQ(got->work.voice.speaker, "");
}

TEST(chat_request, openais_sound_alone_still_gets_a_transcript) {
  const auto got = read(hello + R"(, "modalities": ["audio"], "audio": {"format": "wav", "voice": "ann"})");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_TRUE(got->work.want_text);
  EXPECT_FALSE(got->want_content);
}

TEST(chat_request, a_pipeline_without_sound_refuses_it_by_name) {
  auto mute = test::sample_pipeline();
  mute->audio_output.reset();
  const auto got = read_chat(json::parse("{" + hello + R"(, "modalities": ["text", "audio"]})"), mute, no_media, false);
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().param, "modalities[1]");
}

TEST(chat_request, an_unknown_voice_is_told_the_names) {
  const auto got = read(hello + R"(, "voice": "eve")");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().message, R"(There is no voice named "eve"; this server has: default, ann, Bob.)");
}

TEST(chat_request, stage_parameters_come_below_those_of_the_request) {
  const auto got =
      read(hello + R"(, "top_k": 5, "sampling_params_list": [{"temperature": 0.25, "top_k": 9}, {"seed": 11}, null])");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_FLOAT_EQ(got->work.sampling.temperature, 0.25F);
  EXPECT_EQ(got->work.sampling.top_k, 5);
  EXPECT_EQ(got->work.voice.seed, 11U);
}

TEST(chat_request, the_pipelines_defaults_come_below_both) {
  auto pipeline = test::sample_pipeline();
  pipeline->sampling.temperature = 0.2F;
  pipeline->sampling.top_p = 0.3F;
  const auto got = read_chat(json::parse("{" + hello + R"(, "top_p": 0.4})"), pipeline, no_media, false);
  ASSERT_TRUE(got);
  EXPECT_FLOAT_EQ(got->work.sampling.temperature, 0.2F);
  EXPECT_FLOAT_EQ(got->work.sampling.top_p, 0.4F);
}

TEST(chat_prompt, renders_roles_parts_tools_and_variables) {
  const auto got = read(R"("messages": [{"role": "developer", "content": "be kind"},
      {"role": "user", "content": [{"type": "text", "text": "one"}, {"type": "text", "text": "two"}]}],
      "tools": [{"type": "function", "function": {"name": "f"}}], "chat_template_kwargs": {"mood": "calm"})");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(prompt_of(*got), "system: be kind\nuser: one\ntwo\ntools: 1\nassistant: calm");
}

TEST(chat_prompt, tool_choice_none_leaves_the_tools_out) {
  const auto got =
      read(hello + R"(, "tools": [{"type": "function", "function": {"name": "f"}}], "tool_choice": "none")");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(prompt_of(*got), "user: hello\nassistant: ");
}

TEST(chat_prompt, continues_the_last_message) {
  const auto got =
      read(R"("messages": [{"role": "user", "content": "count"}, {"role": "assistant", "content": "one, two, "}],
      "continue_final_message": true)");
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(prompt_of(*got), "user: count\nassistant: one, two,");
}

TEST(chat_prompt, more_than_the_context_can_hold_is_refused_before_it_is_tokenised) {
  const auto got = read(R"("messages": [{"role": "user", "content": ")" + std::string(3000, 'x') + R"("}])");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, errc::context_too_long);
  EXPECT_EQ(got.error().param, "messages");
}

TEST(chat_prompt, a_special_token_in_a_message_stays_text) {
  const auto pipeline = test::sample_pipeline();
  const std::string special = pipeline->tokenizer->token_content(256);
  const auto got =
      read_chat(json{{"messages", {{{"role", "user"}, {"content", "a" + special}}}}}, pipeline, no_media, false);
  ASSERT_TRUE(got) << got.error().message;
  EXPECT_EQ(std::count(got->work.prompt.begin(), got->work.prompt.end(), 256), 0);
}

} // namespace
} // namespace omni::openai
