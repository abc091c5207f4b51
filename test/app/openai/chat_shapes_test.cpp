// The wire shapes of chat answers, byte by byte: other programs read them.
#include "app/openai/chat_answer.hpp"
#include "app/openai/chat_events.hpp"

#include "test/app/support/sample_pipeline.hpp"

#include <cmath>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace omni::openai {
namespace {

/// A request of two prompt tokens.
std::shared_ptr<chat_request> sample(const std::string& fields) {
  auto read = read_chat(
      json::parse(R"({"messages": [{"role": "user", "content": "x"}])" + (fields.empty() ? "" : ", " + fields) + "}"),
      test::sample_pipeline(), media::reader{{}}, false);
  EXPECT_TRUE(read) << read.error().message;
  auto asked = std::make_shared<chat_request>(std::move(*read));
  asked->id = "chatcmpl-1";
  asked->audio_id = "audio-1";
  asked->model = "m";
  asked->created = 100;
  asked->work.prompt = {10, 11};
  return asked;
}

output text_piece(const std::string& text, std::int32_t tokens_so_far, std::vector<std::int32_t> ids = {}) {
  output piece;
  piece.text = text;
  piece.usage = {.prompt_tokens = 2, .cached_tokens = 1, .completion_tokens = tokens_so_far};
  for (const std::int32_t id : ids) piece.tokens.push_back({.id = id, .logprob = 0, .top = {}});
  return piece;
}

output text_end(const std::string& text, std::int32_t tokens_so_far, finish_reason why = finish_reason::stop) {
  output piece = text_piece(text, tokens_so_far);
  piece.finish = why;
  return piece;
}

output sound_piece(const std::vector<float>& samples, bool last = false) {
  output piece;
  piece.kind = modality::audio;
  if (!samples.empty()) piece.audio = test::sound_of(samples);
  if (last) piece.finish = finish_reason::stop;
  return piece;
}

/// All events of a stream, one per element, without "data: ".
std::vector<std::string> events_of(const std::shared_ptr<chat_request>& asked, const std::vector<output>& pieces) {
  const auto body = make_chat_events(asked, 0);
  std::string out;
  std::int64_t now = 0;
  for (const output& piece : pieces) body->on_output(piece, now += 1000, out);
  body->on_end(out);
  std::vector<std::string> events;
  while (!out.empty()) {
    const std::size_t end = out.find("\n\n");
    EXPECT_TRUE(out.starts_with("data: "));
    EXPECT_NE(end, std::string::npos);
    events.push_back(out.substr(6, end - 6));
    out.erase(0, end + 2);
  }
  return events;
}

constexpr const char* head = R"({"id":"chatcmpl-1","object":"chat.completion.chunk","created":100,"model":"m",)";
// A WAV file of one sample at 8 kHz, full scale; see WAVE format 1.
const std::string one_sample_wav = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQIAAAD/fw==";

TEST(omni_shape, text_events) {
  const auto events = events_of(sample(R"("stream": true)"), {text_piece("Hi", 1), text_end("!", 2)});
  const std::vector<std::string> expected = {
      std::string(head) +
          R"("choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}],)"
          R"("prompt_token_ids":null,"prompt_text":null,"modality":"text"})",
      std::string(head) +
          R"("choices":[{"index":0,"delta":{"content":"Hi"},"logprobs":null,"finish_reason":null,"token_ids":null}],)"
          R"("metrics":null,"modality":"text"})",
      std::string(head) +
          R"("choices":[{"index":0,"delta":{"content":"!"},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null}],)"
          R"("metrics":null,"modality":"text"})",
      "[DONE]",
  };
  EXPECT_EQ(events, expected);
}

TEST(omni_shape, usage_grows_from_event_to_event) {
  const auto events =
      events_of(sample(R"("stream": true, "stream_options": {"include_usage": true, "continuous_usage_stats": true})"),
                {text_piece("Hi", 1, {1}), text_piece("", 2, {2}), text_end("!", 3)});
  ASSERT_EQ(events.size(), 6U);
  const auto usage = [&](std::size_t i) { return dump(json::parse(events[i])["usage"]); };
  EXPECT_EQ(usage(0), R"({"prompt_tokens":2,"total_tokens":2,"completion_tokens":0})");
  EXPECT_EQ(usage(1), R"({"prompt_tokens":2,"total_tokens":3,"completion_tokens":1})");
  EXPECT_EQ(usage(2), R"({"prompt_tokens":2,"total_tokens":4,"completion_tokens":2})");
  EXPECT_EQ(usage(3), R"({"prompt_tokens":2,"total_tokens":5,"completion_tokens":3})");
  EXPECT_EQ(events[4], std::string(head) +
                           R"("choices":[],"usage":{"prompt_tokens":2,"total_tokens":5,"completion_tokens":3,)"
                           R"("prompt_tokens_details":{"cached_tokens":1}}})");
}

TEST(omni_shape, sound_is_a_whole_wav_file_per_event_and_the_last_modality_carries_the_reason) {
  const auto events = events_of(
      sample(R"("stream": true, "modalities": ["text", "audio"])"),
      {text_piece("Hi", 1), sound_piece({1.0F}), text_end("", 2, finish_reason::length), sound_piece({1.0F}, true)});
  ASSERT_EQ(events.size(), 6U);
  const std::string sound_delta =
      R"("choices":[{"index":0,"delta":{"role":"assistant","content":")" + one_sample_wav + R"("},"logprobs":null,)";
  const std::string sound_tail =
      R"("stop_reason":null,"token_ids":null,"audio_metadata":{"format":"wav","sample_rate_hz":8000,"frame_count":1,"channels":1}}],)"
      R"("usage":{"prompt_tokens":2,"total_tokens":2,"completion_tokens":0},"metrics":null,"modality":"audio"})";
  EXPECT_EQ(events[2], head + sound_delta + R"("finish_reason":null,)" + sound_tail);
  EXPECT_EQ(
      events[3],
      std::string(head) +
          R"("choices":[{"index":0,"delta":{"content":""},"logprobs":null,"finish_reason":null,"stop_reason":null,)"
          R"("token_ids":null}],"metrics":null,"modality":"text"})");
  EXPECT_EQ(events[4], head + sound_delta + R"("finish_reason":"length",)" + sound_tail);
}

TEST(omni_shape, sound_without_samples_is_an_empty_content_without_metadata) {
  const auto events = events_of(sample(R"("stream": true, "modalities": ["audio"])"), {sound_piece({}, true)});
  ASSERT_EQ(events.size(), 2U);
  EXPECT_EQ(
      events[0],
      std::string(head) +
          R"("choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":"stop",)"
          R"("stop_reason":null,"token_ids":null}],"usage":{"prompt_tokens":2,"total_tokens":2,"completion_tokens":0},)"
          R"("metrics":null,"modality":"audio"})");
}

TEST(omni_shape, a_modality_that_never_came_is_closed_by_one_more_event) {
  const auto events = events_of(sample(R"("stream": true, "modalities": ["text", "audio"])"), {text_end("Hi", 1)});
  ASSERT_EQ(events.size(), 4U);
  EXPECT_EQ(events[2], std::string(head) + R"("choices":[{"index":0,"delta":{},"finish_reason":"stop"}]})");
}

TEST(omni_shape, token_ids_and_prompt_ids_come_when_asked_for) {
  const auto events =
      events_of(sample(R"("stream": true, "return_token_ids": true)"), {text_piece("", 1, {72}), text_end("H", 1)});
  EXPECT_EQ(dump(json::parse(events[0])["prompt_token_ids"]), "[10,11]");
  EXPECT_EQ(dump(json::parse(events[1])["choices"][0]["token_ids"]), "[72]");
}

TEST(omni_shape, every_choice_has_its_own_role_and_end) {
  auto pieces = std::vector<output>{text_piece("a", 1), text_piece("b", 1), text_end("", 2), text_end("", 3)};
  pieces[1].choice = pieces[3].choice = 1;
  const auto events = events_of(sample(R"("stream": true, "n": 2, "stream_options": {"include_usage": true})"), pieces);
  ASSERT_EQ(events.size(), 8U);
  EXPECT_EQ(json::parse(events[1])["choices"][0]["index"], 1);
  EXPECT_EQ(json::parse(events[5])["choices"][0]["finish_reason"], "stop");
  EXPECT_EQ(json::parse(events[6])["usage"]["completion_tokens"], 5);
}

TEST(omni_shape, stop_reason_is_the_string_or_the_number_of_the_token) {
  output by_token = text_end("", 1);
  by_token.stop_reason = "7";
  EXPECT_EQ(json::parse(events_of(sample(R"("stream": true, "stop_token_ids": [7])"),
                                  {by_token})[1])["choices"][0]["stop_reason"],
            7);
  EXPECT_EQ(
      json::parse(events_of(sample(R"("stream": true, "stop": "7")"), {by_token})[1])["choices"][0]["stop_reason"],
      "7");
}

TEST(omni_shape, stage_metrics_come_with_each_event_and_whole_at_the_end) {
  const auto events =
      events_of(sample(R"("stream": true, "return_stage_metrics": "yes", "modalities": ["text", "audio"])"),
                {text_piece("a", 1, {1}), text_piece("bc", 3, {2, 3}), sound_piece({0, 0, 0, 0, 0, 0, 0, 0}),
                 text_end("", 3), sound_piece({}, true)});
  EXPECT_EQ(dump(json::parse(events[2])["metrics"]),
            R"({"stage_id":0,"final_output_type":"text","num_tokens_in":2,"num_tokens_out":3})");
  const json last = json::parse(events[5])["metrics"];
  EXPECT_EQ(last["stage_metrics"]["0"]["vllm_ttft_ms"], 1.0);
  EXPECT_EQ(last["stage_metrics"]["0"]["vllm_itls_ms"], json::parse("[0.5, 0.5]"));
  EXPECT_EQ(last["stage_metrics"]["0"]["finish_reason"], "stop");
  EXPECT_EQ(last["stage_metrics"]["2"]["stage_name"], "code2wav");
  EXPECT_EQ(last["stage_metrics"]["2"]["audio_frames"], 8);
  EXPECT_EQ(last["stage_metrics"]["2"]["serving_time_to_first_output_ms"], 3.0);
}

TEST(omni_shape, a_failure_is_an_error_event_and_the_end_mark) {
  const auto body = make_chat_events(sample(R"("stream": true)"), 0);
  std::string out;
  EXPECT_TRUE(body->on_failure({errc::replica_lost, "It died.", ""}, out));
  EXPECT_EQ(out, "data: {\"error\":{\"message\":\"It "
                 "died.\",\"type\":\"server_error\",\"param\":null,\"code\":\"replica_lost\"}}\n\ndata: [DONE]\n\n");
}

TEST(logprobs, have_openais_shape_with_bytes) {
  output piece = text_piece("Hé", 2);
  piece.tokens = {{.id = 72, .logprob = -0.5F, .top = {{72, -0.5F}, {73, -2.0F}, {74, -3.0F}}},
                  {.id = 0xc3, .logprob = -HUGE_VALF, .top = {}}};
  const auto events = events_of(sample(R"("stream": true, "logprobs": true, "top_logprobs": 2)"), {piece});
  EXPECT_EQ(dump(json::parse(events[1])["choices"][0]["logprobs"]),
            "{\"content\":[{\"token\":\"H\",\"logprob\":-0.5,\"bytes\":[72],\"top_logprobs\":[{\"token\":\"H\","
            "\"logprob\":-0.5,\"bytes\":[72]},"
            "{\"token\":\"I\",\"logprob\":-2.0,\"bytes\":[73]}]},{\"token\":\"\xEF\xBF\xBD\",\"logprob\":-9999.0,"
            "\"bytes\":[195],\"top_logprobs\":[]}]}");
}

const std::string openai_stream =
    R"("stream": true, "audio": {"format": "FORMAT", "voice": "ann"}, "modalities": ["text", "audio"])";

std::shared_ptr<chat_request> openai_sample(const std::string& format) {
  std::string fields = openai_stream;
  fields.replace(fields.find("FORMAT"), 6, format);
  return sample(fields);
}

TEST(openai_shape, sound_comes_in_audio_objects_with_id_first_and_expiry_last) {
  const auto events = events_of(openai_sample("pcm16"), {text_piece("Hi", 1), sound_piece({1.0F, 1.0F, 1.0F}),
                                                         text_end("", 1), sound_piece({}, true)});
  const std::vector<std::string> expected = {
      std::string(head) +
          R"("choices":[{"index":0,"delta":{"role":"assistant","content":""},"logprobs":null,"finish_reason":null}]})",
      std::string(head) +
          R"("choices":[{"index":0,"delta":{"content":"Hi","audio":{"id":"audio-1","transcript":"Hi"}},"logprobs":null,"finish_reason":null}]})",
      std::string(head) +
          R"("choices":[{"index":0,"delta":{"audio":{"data":"/3//f/9/"}},"logprobs":null,"finish_reason":null}]})",
      std::string(head) +
          R"("choices":[{"index":0,"delta":{"audio":{"expires_at":86500}},"logprobs":null,"finish_reason":null}]})",
      std::string(head) + R"("choices":[{"index":0,"delta":{},"logprobs":null,"finish_reason":"stop"}]})",
      "[DONE]",
  };
  EXPECT_EQ(events, expected);
}

TEST(openai_shape, a_piece_of_pcm_never_cuts_a_sample) {
  std::vector<output> pieces;
  for (const std::size_t size : {1, 4, 5, 7}) pieces.push_back(sound_piece(std::vector<float>(size, 1.0F)));
  pieces.push_back(sound_piece({}, true));
  std::size_t bytes = 0;
  for (const std::string& event : events_of(openai_sample("pcm16"), pieces)) {
    if (event == "[DONE]") continue;
    const json delta = json::parse(event)["choices"][0]["delta"];
    if (!delta.contains("audio") || !delta["audio"].contains("data")) continue;
    const auto piece = test::from_base64(delta["audio"]["data"].get<std::string>()).size();
    EXPECT_EQ(piece % 2, 0U);
    bytes += piece;
  }
  EXPECT_EQ(bytes, 2U * (1 + 4 + 5 + 7));
}

TEST(openai_shape, joined_data_is_one_base64_text_of_one_wav_file_at_any_cut) {
  for (const std::vector<std::size_t>& cuts : {std::vector<std::size_t>{1, 1, 1, 1, 1}, {2, 3}, {5}, {4, 1}}) {
    std::vector<output> pieces;
    for (const std::size_t size : cuts) pieces.push_back(sound_piece(std::vector<float>(size, 1.0F)));
    pieces.push_back(sound_piece({}, true));
    std::string joined;
    for (const std::string& event : events_of(openai_sample("wav"), pieces)) {
      if (event == "[DONE]") continue;
      const json delta = json::parse(event)["choices"][0]["delta"];
      if (delta.contains("audio") && delta["audio"].contains("data"))
        joined += delta["audio"]["data"].get<std::string>();
    }
    const std::string wav = test::from_base64(joined);
    ASSERT_EQ(wav.size(), 44U + 10U);
    EXPECT_EQ(wav.substr(0, 4), "RIFF");
    EXPECT_EQ(wav.substr(44), "\xff\x7f\xff\x7f\xff\x7f\xff\x7f\xff\x7f");
  }
}

http::response whole_answer(const std::shared_ptr<chat_request>& asked, const std::vector<output>& pieces) {
  chat_answer answer(asked, 0);
  for (const output& piece : pieces) answer.on_output(piece, 0);
  return answer.whole();
}

TEST(whole_answer, text) {
  EXPECT_EQ(
      whole_answer(sample(""), {text_piece("H", 1), text_end("i", 2, finish_reason::length)}).body,
      R"({"id":"chatcmpl-1","object":"chat.completion","created":100,"model":"m","choices":[{"index":0,"message":{"role":"assistant",)"
      R"("content":"Hi","refusal":null,"audio":null},"logprobs":null,"finish_reason":"length","stop_reason":null,"token_ids":null}],)"
      R"("service_tier":null,"system_fingerprint":null,"usage":{"prompt_tokens":2,"total_tokens":4,"completion_tokens":2,)"
      R"("prompt_tokens_details":{"cached_tokens":1}},"prompt_token_ids":null,"metrics":null})");
}

TEST(whole_answer, omni_sound_is_merged_into_the_choice) {
  const json answer = json::parse(whole_answer(sample(R"("modalities": ["text", "audio"])"),
                                               {text_end("Hi", 1), sound_piece({1.0F}), sound_piece({}, true)})
                                      .body);
  ASSERT_EQ(answer["choices"].size(), 1U);
  EXPECT_EQ(
      dump(answer["choices"][0]),
      R"({"index":0,"message":{"role":"assistant","content":"Hi","refusal":null,"audio":{"id":"audio-1","data":")" +
          one_sample_wav +
          R"(","expires_at":86500,"transcript":""}},"logprobs":null,"finish_reason":"stop","stop_reason":null,"token_ids":null,)"
          R"("audio_metadata":{"format":"wav","sample_rate_hz":8000,"frame_count":1,"channels":1}})");
}

TEST(whole_answer, openai_sound_has_a_transcript_and_the_asked_format) {
  const json answer =
      json::parse(whole_answer(sample(R"("modalities": ["audio"], "audio": {"format": "pcm16", "voice": "ann"})"),
                               {text_end("Hi", 1), sound_piece({1.0F}), sound_piece({}, true)})
                      .body);
  EXPECT_EQ(
      dump(answer["choices"][0]["message"]),
      R"({"role":"assistant","content":null,"refusal":null,"audio":{"id":"audio-1","data":"/38=","expires_at":86500,"transcript":"Hi"}})");
}

TEST(whole_answer, sound_alone_has_no_content) {
  const json answer = json::parse(whole_answer(sample(R"("modalities": ["audio"])"), {sound_piece({1.0F}, true)}).body);
  EXPECT_TRUE(answer["choices"][0]["message"]["content"].is_null());
  EXPECT_EQ(answer["choices"][0]["message"]["audio"]["data"], one_sample_wav);
}

} // namespace
} // namespace omni::openai
