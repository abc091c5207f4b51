// The HTTP interface over a whole engine whose models are fakes: what a client sees when things go well and when they
// do not.
#include "app/http/server.hpp"
#include "app/media/base64.hpp"
#include "app/openai/endpoints.hpp"
#include "app/openai/errors.hpp"
#include "kernels/core/error.hpp"
#include "kernels/text/chat_template.hpp"
#include "test/app/support/media_files.hpp"
#include "test/app/support/raw_client.hpp"
#include "test/app/support/sample_pipeline.hpp"
#include "test/support/fake_runner.hpp"

#include <atomic>
#include <gtest/gtest.h>
#include <latch>
#include <memory>
#include <nlohmann/json.hpp>
#include <sndfile.h>
#include <string>

namespace omni::openai {
namespace {

using test::raw_answer;
using test::raw_client;

/// Thinker, talker and code2wav of fakes behind the real server.
class serving : public ::testing::Test {
protected:
  serving() {
    fakes.answer = "Good day to you.";
    fakes.max_model_len = 128;
  }

  void start() {
    engine_config config;
    for (const char* part : {"thinker", "talker", "code2wav"}) {
      stage_config stage;
      stage.id.value = std::int32_t(config.stages.size());
      stage.model_stage = stage.model = part;
      stage.block_size = fakes.block_size;
      config.stages.push_back(stage);
    }
    config.stages[0].final_output_type = modality::text;
    config.stages[2].final_output_type = modality::audio;
    config.max_num_requests = max_num_requests;
    config.threads = 1;
    config.log_stats_interval_s = 1e6;
    config.dispatch_timeout_s = 0;
    auto made = engine::start(config, test::fake_loader(fakes));
    ASSERT_TRUE(made) << made.error().message;
    running = std::move(*made);
    auto facts = std::make_shared<pipeline_facts>(facts_of(*running));
    facts->chat_template =
        chat_template.empty()
            ? test::sample_pipeline()->chat_template
            : std::make_shared<const text::chat_template>(text::chat_template::parse(chat_template, "the template"));
    shared.reset(new context{.running = *running,
                             .pipeline = facts,
                             .served_names = {"fake", "alias"},
                             .version = "1.2.3",
                             .started_s = 100,
                             .media_workers{1, max_waiting_media_now, "media"}});
    http::server_options options;
    options.port = 0;
    options.error_page = error_page;
    options.name_request = request_namer();
    options.log = [](std::string_view) {};
    http::router routes;
    add_routes(*shared, routes);
    auto listening = http::server::listen(options, routes);
    ASSERT_TRUE(listening) << listening.error().message;
    server = std::move(*listening);
  }

  raw_answer post(const std::string& path, const std::string& body, const std::string& headers = {}) {
    raw_client client(server->port());
    return client.ask("POST", path, body, headers);
  }
  raw_answer get(const std::string& path) {
    raw_client client(server->port());
    return client.ask("GET", path);
  }
  /// The thinker stops before a step until `release` counts down, from the step after `steps` on.
  void hold_thinker_after(std::int64_t steps) {
    fakes.before_step = [this, steps](const test::fake_step& step) {
      if (step.stage == "thinker" && step.number >= steps) release.wait();
    };
  }

  test::fake_options fakes;
  std::int32_t max_num_requests = 16;
  std::size_t max_waiting_media_now = max_waiting_media;
  std::string chat_template; // empty: that of the sample pipeline
  std::latch release{1};
  std::unique_ptr<engine> running;
  std::unique_ptr<context> shared;
  std::unique_ptr<http::server> server;
};

std::string chat(const std::string& fields = {}) {
  return R"({"messages": [{"role": "user", "content": "hi"}])" + (fields.empty() ? "" : ", " + fields) + "}";
}

std::string error_param(const raw_answer& answer) {
  const json param = json::parse(answer.body)["error"]["param"];
  return param.is_null() ? "" : param.get<std::string>();
}

TEST_F(serving, chat_is_answered_whole) {
  start();
  const raw_answer answer = post("/v1/chat/completions", chat(), "X-Request-Id: mine\r\n");
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(answer.header("x-request-id"), "mine");
  const json body = json::parse(answer.body);
  EXPECT_EQ(body["model"], "fake");
  EXPECT_EQ(body["choices"][0]["message"]["content"], fakes.answer);
  EXPECT_EQ(body["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(body["usage"]["prompt_tokens"], 20); // "user: hi\nassistant: "
  EXPECT_EQ(body["usage"]["completion_tokens"], fakes.answer.size() + 1);
}

TEST_F(serving, streamed_text_and_sound_together_are_the_whole_answer) {
  start();
  const raw_answer whole = post(
      "/v1/chat/completions", chat(R"("modalities": ["text", "audio"], "audio": {"format": "pcm16", "voice": "bob"})"));
  const raw_answer streamed =
      post("/v1/chat/completions",
           chat(R"("modalities": ["text", "audio"], "audio": {"format": "pcm16", "voice": "bob"}, "stream": true)"));
  ASSERT_EQ(whole.status, 200) << whole.body;
  ASSERT_EQ(streamed.status, 200) << streamed.body;
  EXPECT_EQ(streamed.header("content-type"), "text/event-stream; charset=utf-8");
  std::string text;
  std::string sound;
  for (std::size_t at = 0; (at = streamed.body.find("data: {", at)) != std::string::npos; ++at) {
    const json event = json::parse(streamed.body.substr(at + 6, streamed.body.find("\n\n", at) - at - 6));
    const json& delta = event["choices"][0]["delta"];
    if (delta.contains("content")) text += delta["content"].get<std::string>();
    if (delta.contains("audio") && delta["audio"].contains("data")) sound += delta["audio"]["data"].get<std::string>();
  }
  const json message = json::parse(whole.body)["choices"][0]["message"];
  EXPECT_EQ(text, message["content"]);
  EXPECT_EQ(sound, message["audio"]["data"]);
  EXPECT_EQ(message["audio"]["transcript"], fakes.answer);
  EXPECT_FALSE(sound.empty());
  EXPECT_TRUE(streamed.body.ends_with("data: [DONE]\n\n"));
}

TEST_F(serving, speech_is_the_same_whole_in_bytes_and_in_events) {
  start();
  const raw_answer whole = post("/v1/audio/speech", R"({"input": "Good day.", "response_format": "pcm"})");
  ASSERT_EQ(whole.status, 200) << whole.body;
  EXPECT_EQ(whole.header("content-type"), "audio/pcm");
  const raw_answer bytes =
      post("/v1/audio/speech", R"({"input": "Good day.", "response_format": "pcm", "stream_format": "audio"})");
  EXPECT_EQ(bytes.header("transfer-encoding"), "chunked");
  EXPECT_EQ(bytes.body, whole.body);
  const raw_answer events =
      post("/v1/audio/speech", R"({"input": "Good day.", "response_format": "pcm", "stream": true})");
  std::string sound;
  for (std::size_t at = 0; (at = events.body.find("data: {", at)) != std::string::npos; ++at) {
    const json event = json::parse(events.body.substr(at + 6, events.body.find("\n\n", at) - at - 6));
    if (event["type"] == "speech.audio.delta") sound += test::from_base64(event["audio"].get<std::string>());
  }
  EXPECT_EQ(sound, whole.body);
  const raw_answer wav = post("/v1/audio/speech", R"({"input": "Good day."})");
  EXPECT_EQ(wav.body.substr(44), whole.body);
}

TEST_F(serving, what_is_wrong_with_a_request_comes_before_any_byte_of_a_stream) {
  start();
  const raw_answer too_long = post("/v1/chat/completions", chat(R"("stream": true, "max_tokens": 100000)"));
  EXPECT_EQ(too_long.status, 400);
  EXPECT_EQ(json::parse(too_long.body)["error"]["code"], "context_length_exceeded");
  EXPECT_EQ(error_param(post("/v1/chat/completions", chat(R"("temperature": 9)"))), "temperature");
  EXPECT_EQ(error_param(post("/v1/audio/speech", R"({"input": "x", "voice": "eve"})")), "voice");
  EXPECT_EQ(post("/v1/chat/completions", chat(R"("model": "gpt-9")")).status, 404);
  EXPECT_EQ(post("/v1/chat/completions", "{").status, 400);
  EXPECT_EQ(post("/v1/chat/completions", "[]").status, 400);
  EXPECT_EQ(get("/v1/chat/completions").status, 405);
  EXPECT_EQ(json::parse(get("/v2").body)["error"]["code"], "not_found");
}

TEST_F(serving, served_names_default_and_none_are_the_same_model) {
  start();
  for (const char* name : {R"("model": "fake")", R"("model": "alias")", R"("model": "default")", R"("model": null)"})
    EXPECT_EQ(post("/v1/chat/completions", chat(name)).status, 200) << name;
}

TEST_F(serving, a_body_that_says_it_is_not_json_is_refused) {
  start();
  raw_client client(server->port());
  client.send(
      "POST /v1/chat/completions HTTP/1.1\r\nHost: t\r\nContent-Type: text/plain\r\nContent-Length: 2\r\n\r\n{}");
  EXPECT_EQ(client.read_answer().status, 415);
}

TEST_F(serving, a_client_that_leaves_a_stream_frees_its_place) {
  max_num_requests = 1;
  hold_thinker_after(6);
  start();
  raw_client first(server->port());
  first.send("POST /v1/chat/completions HTTP/1.1\r\nHost: t\r\nContent-Length: " +
             std::to_string(chat(R"("stream": true)").size()) + "\r\n\r\n" + chat(R"("stream": true)"));
  ASSERT_NE(first.read_until(R"("content":"G")"), "");
  const raw_answer refused = post("/v1/chat/completions", chat());
  EXPECT_EQ(refused.status, 429) << refused.body;
  EXPECT_EQ(refused.header("retry-after"), "1");
  first.close();
  release.count_down();
  // The place is free as soon as the abort has gone through; a refusal until then is the only other answer there is.
  for (raw_answer next = post("/v1/chat/completions", chat()); next.status != 200;
       next = post("/v1/chat/completions", chat()))
    ASSERT_EQ(next.status, 429) << next.body;
}

TEST_F(serving, a_client_that_leaves_before_its_whole_answer_frees_its_place) {
  max_num_requests = 1;
  std::latch begun{1};
  std::atomic<bool> told{false};
  fakes.before_step = [&](const test::fake_step& step) {
    if (step.stage == "thinker" && step.number == 1 && !told.exchange(true)) begun.count_down();
    if (step.stage == "thinker" && step.number >= 1) release.wait();
  };
  start();
  raw_client first(server->port());
  first.send("POST /v1/chat/completions HTTP/1.1\r\nHost: t\r\nContent-Length: " + std::to_string(chat().size()) +
             "\r\n\r\n" + chat());
  begun.wait();
  first.reset();
  release.count_down();
  for (raw_answer next = post("/v1/chat/completions", chat()); next.status != 200;
       next = post("/v1/chat/completions", chat()))
    ASSERT_EQ(next.status, 429) << next.body;
}

TEST_F(serving, a_replica_that_dies_before_the_answer_is_a_status_and_after_it_an_event) {
  std::atomic<std::int64_t> dies_at{0};
  fakes.before_step = [&](const test::fake_step& step) {
    if (step.stage == "thinker" && step.number == dies_at) throw device_error("the fake device failed");
  };
  start();
  const raw_answer early = post("/v1/chat/completions", chat(R"("stream": true)"));
  EXPECT_EQ(early.status, 503) << early.body;
  running->add_replica(stage_id{0});
  dies_at = 5;
  const raw_answer late = post("/v1/chat/completions", chat(R"("stream": true)"));
  EXPECT_EQ(late.status, 200);
  EXPECT_TRUE(late.complete);
  EXPECT_NE(late.body.find(R"(data: {"error":{"message":)"), std::string::npos) << late.body;
  EXPECT_TRUE(late.body.ends_with("data: [DONE]\n\n"));
  EXPECT_EQ(get("/health").status, 503);
  EXPECT_EQ(get("/ready").status, 503);
}

TEST_F(serving, tokens_and_back) {
  start();
  EXPECT_EQ(post("/tokenize", R"({"prompt": "ab", "add_special_tokens": false})").body,
            R"({"count":2,"max_model_len":128,"tokens":[97,98],"token_strs":null})");
  EXPECT_EQ(
      post(
          "/tokenize",
          R"({"messages": [{"role": "user", "content": "a"}], "add_generation_prompt": false, "return_token_strs": true})")
          .body,
      R"({"count":8,"max_model_len":128,"tokens":[117,115,101,114,58,32,97,10],"token_strs":["u","s","e","r",":","Ġ","a","Ċ"]})");
  EXPECT_EQ(post("/detokenize", R"({"tokens": [97, 98]})").body, R"({"prompt":"ab"})");
  EXPECT_EQ(error_param(post("/detokenize", R"({"tokens": [97, 999]})")), "tokens[1]");
  EXPECT_EQ(error_param(post("/detokenize", R"({})")), "tokens");
  EXPECT_EQ(error_param(post("/tokenize", R"({})")), "prompt");
  EXPECT_EQ(error_param(post("/tokenize", R"({"prompt": 5})")), "prompt");
}

TEST_F(serving, what_operators_ask) {
  start();
  EXPECT_EQ(get("/health").body, R"({"status":"healthy"})");
  EXPECT_EQ(get("/ready").body, R"({"status":"ready"})");
  EXPECT_EQ(get("/version").body, R"({"version":"1.2.3"})");
  EXPECT_NE(get("/metrics").body.find("# TYPE vllm:num_requests_running gauge"), std::string::npos);
  EXPECT_EQ(
      get("/v1/models").body,
      R"({"object":"list","data":[{"id":"fake","object":"model","created":100,"owned_by":"omni-serve","root":"fake","parent":null,"max_model_len":128},)"
      R"({"id":"alias","object":"model","created":100,"owned_by":"omni-serve","root":"fake","parent":null,"max_model_len":128}]})");
  EXPECT_EQ(json::parse(get("/v1/models/alias").body)["id"], "alias");
  EXPECT_EQ(get("/v1/models/other").status, 404);
  EXPECT_EQ(get("/v1/audio/voices").body, R"({"voices":["ann","bob"]})");
  shared->draining = true;
  EXPECT_EQ(get("/ready").status, 503);
}

TEST_F(serving, the_servers_end_aborts_what_runs) {
  hold_thinker_after(6);
  start();
  raw_client client(server->port());
  client.send("POST /v1/chat/completions HTTP/1.1\r\nHost: t\r\nContent-Length: " +
              std::to_string(chat(R"("stream": true)").size()) + "\r\n\r\n" + chat(R"("stream": true)"));
  client.read_until(R"("content":"G")");
  server.reset();
  EXPECT_TRUE(client.closed_by_server());
  release.count_down();
}

/// A chat with a picture, which takes the place of `frames` tokens: one.
std::string chat_with_picture(const std::string& url) {
  return R"({"messages": [{"role": "user", "content": [{"type": "text", "text": "hi"}, {"type": "image_url", "image_url": {"url": ")" +
         url + R"("}}]}]})";
}

std::string picture_url() {
  return "data:image/png;base64," + media::to_base64(test::png_file(test::plain_picture(2, 3, 7), 2, 3));
}

class serving_media : public serving {
protected:
  serving_media() {
    fakes.takes_media = true;
    chat_template =
        "{% for m in messages %}{% for p in m.content %}{{ p.text if p.type == 'text' else '\x01' }}{% endfor "
        "%}{% endfor %}";
  }
};

TEST_F(serving_media, a_picture_is_part_of_the_prompt) {
  start();
  const raw_answer answer = post("/v1/chat/completions", chat_with_picture(picture_url()));
  ASSERT_EQ(answer.status, 200) << answer.body;
  EXPECT_EQ(json::parse(answer.body)["choices"][0]["message"]["content"], fakes.answer);
  EXPECT_EQ(json::parse(answer.body)["usage"]["prompt_tokens"], 3);
  const raw_answer tokens = post("/tokenize", chat_with_picture(picture_url()));
  ASSERT_EQ(tokens.status, 200) << tokens.body;
  EXPECT_EQ(json::parse(tokens.body)["tokens"], (json{'h', 'i', 1}));
}

TEST_F(serving_media, the_context_holds_what_media_take) {
  start();
  const std::string sound =
      media::to_base64(test::sound_file(std::vector<float>(128), 16'000, 1, SF_FORMAT_WAV | SF_FORMAT_PCM_16));
  const raw_answer answer =
      post("/v1/chat/completions",
           R"({"messages": [{"role": "user", "content": [{"type": "input_audio", "input_audio": {"data": ")" + sound +
               R"("}}]}]})");
  EXPECT_EQ(answer.status, 400);
  EXPECT_EQ(json::parse(answer.body)["error"]["code"], "context_length_exceeded") << answer.body;
}

TEST_F(serving_media, bad_media_are_answered_by_name) {
  start();
  for (const char* url : {"data:image/png;base64,AAAA", "https://example.com/x.png", "file:///etc/passwd"}) {
    const raw_answer answer = post("/v1/chat/completions", chat_with_picture(url));
    EXPECT_EQ(answer.status, 400) << answer.body;
    EXPECT_EQ(error_param(answer), "messages[0].content[1].image_url");
  }
}

TEST_F(serving_media, too_many_at_once_are_told_to_wait) {
  max_waiting_media_now = 0;
  start();
  const raw_answer answer = post("/v1/chat/completions", chat_with_picture(picture_url()));
  EXPECT_EQ(answer.status, 429) << answer.body;
  EXPECT_EQ(answer.header("retry-after"), "1");
}

} // namespace
} // namespace omni::openai
