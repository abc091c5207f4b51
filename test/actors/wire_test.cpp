#include "actors/net/wire_messages.hpp"

#include <gmock/gmock.h>
#include <random>

namespace omni::net {
namespace {

std::span<const char> body_of(const bytes& frame) { return std::span(frame).subspan(length_bytes + 1); }

open sample_open() {
  open one;
  one.replica = {3};
  one.task.id = {77};
  one.task.attempt = 2;
  one.task.what.prompt = {1, 2, 300};
  one.task.what.text = "say this";
  one.task.what.sampling.seed = 9;
  one.task.what.sampling.stop = {"a", "b"};
  one.task.what.sampling.logit_bias = {{5, -1.5F}};
  one.task.for_next = true;
  one.age = 1234;
  one.next = next_place{false, 42, "10.0.0.1", 4000};
  return one;
}

TEST(wire, a_request_comes_over_whole) {
  const auto frame = frame_of(frame_kind::open, sample_open());
  const auto back = decode<open>(body_of(frame));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->task.what.prompt, (std::vector<std::int32_t>{1, 2, 300}));
  EXPECT_EQ(back->task.what.text, "say this");
  EXPECT_EQ(back->task.what.sampling.seed, 9u);
  EXPECT_EQ(back->task.what.sampling.stop, (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(back->task.what.sampling.logit_bias.front().second, -1.5F);
  EXPECT_FALSE(back->task.what.sampling.logprobs);
  EXPECT_TRUE(back->task.for_next);
  EXPECT_EQ(back->next->address, "10.0.0.1");
}

TEST(wire, every_kind_of_payload_comes_over_bit_for_bit) {
  for (const auto kind : {payload::kind::text, payload::kind::rows, payload::kind::samples}) {
    auto data = std::make_shared<payload>();
    data->what = kind;
    data->type = dtype::f16;
    if (kind == payload::kind::text) {
      data->text = "täglich";
    } else {
      data->rows = 3;
      data->width = 2;
      data->bytes.resize(12, std::byte(7));
      data->ends_segment = true;
    }
    const auto message = bulk_of(chunk{{1}, 0, {0}, {2}, 5, data, true, 0});
    const auto back = read_piece(std::span(message).subspan(1));
    ASSERT_TRUE(back);
    EXPECT_EQ(back->number, 5u);
    EXPECT_TRUE(back->end);
    EXPECT_EQ(back->data->what, kind);
    EXPECT_EQ(back->data->text, data->text);
    EXPECT_EQ(back->data->bytes, data->bytes);
    EXPECT_EQ(back->data->rows, data->rows);
    EXPECT_EQ(back->data->ends_segment, data->ends_segment);
  }
}

TEST(wire, media_come_over_bit_for_bit) {
  auto seen = std::make_shared<media_input>();
  seen->what = media_input::kind::video;
  seen->samples = {0.5F, -0.25F};
  seen->rgb = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  seen->frames = 2;
  seen->height = 1;
  seen->width = 2;
  seen->frames_per_second = 2.5;
  const auto message = bulk_of(request_medium{{9}, 1, {seen, 40}});
  const auto back = read_medium(std::span(message).subspan(1));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->request.value, 9u);
  EXPECT_EQ(back->attempt, 1);
  EXPECT_EQ(back->medium.begin, 40);
  const auto& found = *back->medium.what;
  EXPECT_EQ(found.what, seen->what);
  EXPECT_EQ(found.samples, seen->samples);
  EXPECT_EQ(found.rgb, seen->rgb);
  EXPECT_EQ(found.frames, 2);
  EXPECT_EQ(found.height, 1);
  EXPECT_EQ(found.width, 2);
  EXPECT_EQ(found.frames_per_second, 2.5);
  const std::size_t content = 2 * sizeof(float) + 12;
  for (std::size_t cut = 1; cut < message.size() - content; ++cut)
    EXPECT_FALSE(read_medium(std::span(message).subspan(1).first(cut))) << cut;
  EXPECT_FALSE(read_medium(std::span(message).subspan(1).first(message.size() - content))) << "samples are missing";
}

TEST(wire, an_answer_comes_over_with_its_tokens) {
  answer_piece one;
  one.attempt = 1;
  one.what.request = {8};
  one.what.text = "hello";
  one.what.tokens = {{4, -0.5F, {{4, -0.5F}, {9, -2.0F}}}};
  one.what.finish = finish_reason::length;
  const auto message = bulk_of(one);
  const auto back = read_answer(std::span(message).subspan(1));
  ASSERT_TRUE(back);
  EXPECT_EQ(back->what.tokens.front().top.back().first, 9);
  EXPECT_EQ(back->what.finish, finish_reason::length);
  EXPECT_EQ(back->what.audio, nullptr);
}

TEST(wire, a_report_keeps_its_buckets) {
  engine_report report;
  report.inter_token_latency.add(0.03, report.bad, 4);
  report.transfer({0}, {1}, {1}, {0}).size.add(100, report.bad);
  const auto message = bulk_of(report);
  auto back = decode<engine_report>(std::span(message).subspan(1));
  ASSERT_TRUE(back);
  back->merge(engine_report(report));
  EXPECT_EQ(back->inter_token_latency.count(), 8);
  EXPECT_EQ(back->transfers.front().size.count(), 2);
}

TEST(wire, buckets_that_could_not_be_merged_are_refused) {
  engine_report report;
  report.inter_token_latency.counts.resize(3);
  const auto message = bulk_of(report);
  EXPECT_FALSE(decode<engine_report>(std::span(message).subspan(1)));
}

TEST(wire, rows_whose_size_does_not_fit_their_bytes_are_refused) {
  auto data = std::make_shared<payload>();
  data->what = payload::kind::rows;
  data->bytes.resize(16);
  for (const auto& [rows, width] :
       {std::pair<std::int64_t, std::int64_t>{2, 3}, {-1, -4}, {std::int64_t(1) << 62, 4}, {4, 0}}) {
    data->rows = rows;
    data->width = width;
    const auto message = bulk_of(chunk{{1}, 0, {0}, {0}, 0, data, false, 0});
    EXPECT_FALSE(read_piece(std::span(message).subspan(1))) << rows << " x " << width;
  }
}

TEST(wire, a_message_that_ends_early_or_late_is_refused) {
  const auto frame = frame_of(frame_kind::open, sample_open());
  const auto body = body_of(frame);
  for (std::size_t size = 0; size < body.size(); ++size) EXPECT_FALSE(decode<open>(body.first(size))) << size;
  bytes longer(body.begin(), body.end());
  longer.push_back(0);
  EXPECT_FALSE(decode<open>(longer));
}

TEST(wire, bytes_turned_at_random_are_read_without_harm) {
  std::mt19937 random{7};
  engine_report report;
  report.time_to_first_token.add(0.1, report.bad);
  const std::vector<bytes> samples{frame_of(frame_kind::open, sample_open()), bulk_of(report), bulk_of(answer_piece{}),
                                   bulk_of(chunk{})};
  int refused = 0;
  for (int round = 0; round < 20'000; ++round) {
    auto one = samples[round % samples.size()];
    for (unsigned turns = 0; turns <= random() % 4; ++turns) one[random() % one.size()] = char(random());
    const auto body = std::span<const char>(one).subspan(1);
    refused += !decode<open>(body);
    refused += !decode<engine_report>(body);
    refused += !read_answer(body);
    refused += !read_piece(body);
  }
  EXPECT_GT(refused, 60'000);
}

} // namespace
} // namespace omni::net
