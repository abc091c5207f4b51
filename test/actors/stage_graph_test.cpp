#include "test/support/fake_stages.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace omni {
namespace {

using test::fake_stage;
using ::testing::HasSubstr;

stage_graph chat() {
  return *stage_graph::make(
      {fake_stage("thinker", modality::text), fake_stage("talker"), fake_stage("code2wav", modality::audio)});
}

request asking(bool text, bool audio) {
  request what;
  what.prompt = {1, 2};
  what.want_text = text;
  what.want_audio = audio;
  return what;
}

TEST(stage_graph, needs_only_the_thinker_for_text) {
  const auto graph = chat();
  const auto way = *graph.path_of(asking(true, false));
  EXPECT_EQ(way.first, 0u);
  EXPECT_EQ(way.last, 0u);
  const auto task = graph.task_for(0, way, {1}, 0, asking(true, false), 5);
  EXPECT_TRUE(task.for_client);
  EXPECT_FALSE(task.for_next);
  EXPECT_EQ(task.arrival, 5);
}

TEST(stage_graph, needs_all_stages_for_text_and_audio) {
  const auto graph = chat();
  const auto what = asking(true, true);
  const auto way = *graph.path_of(what);
  EXPECT_EQ(way.size(), 3u);
  EXPECT_TRUE(graph.task_for(0, way, {1}, 0, what, 0).for_client);
  EXPECT_TRUE(graph.task_for(0, way, {1}, 0, what, 0).for_next);
  EXPECT_FALSE(graph.task_for(1, way, {1}, 0, what, 0).for_client);
  EXPECT_TRUE(graph.task_for(2, way, {1}, 0, what, 0).for_client);
  EXPECT_FALSE(graph.task_for(2, way, {1}, 0, what, 0).for_next);
}

TEST(stage_graph, keeps_the_text_from_a_client_that_wants_audio_alone) {
  const auto graph = chat();
  const auto what = asking(false, true);
  const auto way = *graph.path_of(what);
  EXPECT_EQ(way.size(), 3u);
  EXPECT_FALSE(graph.task_for(0, way, {1}, 0, what, 0).for_client);
}

TEST(stage_graph, starts_a_speech_request_at_the_first_voice_stage) {
  const auto graph = chat();
  request what;
  what.text = "hello";
  what.want_text = false;
  what.want_audio = true;
  const auto way = *graph.path_of(what);
  EXPECT_EQ(way.first, 1u);
  EXPECT_EQ(way.last, 2u);
  EXPECT_EQ(graph.task_for(1, way, {1}, 0, what, 0).what.text, "hello");
}

TEST(stage_graph, carries_the_input_only_to_where_it_is_read) {
  const auto graph = chat();
  const auto what = asking(true, true);
  const auto way = *graph.path_of(what);
  EXPECT_EQ(graph.task_for(0, way, {1}, 0, what, 0).what.prompt.size(), 2u);
  EXPECT_TRUE(graph.task_for(1, way, {1}, 0, what, 0).what.prompt.empty());
}

TEST(stage_graph, refuses_what_no_stage_makes) {
  const auto text_only = *stage_graph::make({fake_stage("thinker", modality::text)});
  EXPECT_EQ(text_only.path_of(asking(true, true)).error().param, "modalities");
  const auto voice = *stage_graph::make({fake_stage("talker"), fake_stage("code2wav", modality::audio)});
  EXPECT_EQ(voice.path_of(asking(true, false)).error().code, errc::invalid_request);
  EXPECT_EQ(chat().path_of(asking(false, false)).error().param, "modalities");
  request speech;
  speech.text = "hello";
  speech.want_text = false;
  speech.want_audio = true;
  EXPECT_EQ(text_only.path_of(speech).error().param, "input");
}

TEST(stage_graph, refuses_chains_that_cannot_work) {
  const auto refusal = [](std::vector<stage_graph::stage> stages) {
    const auto made = stage_graph::make(std::move(stages));
    return made ? std::string("none") : made.error().message;
  };
  const auto thinker = fake_stage("thinker", modality::text);
  const auto talker = fake_stage("talker");
  const auto code2wav = fake_stage("code2wav", modality::audio);
  EXPECT_THAT(refusal({}), HasSubstr("at least one stage"));
  EXPECT_THAT(refusal({fake_stage("thinker")}), HasSubstr("No stage has a final_output_type"));
  EXPECT_THAT(refusal({talker, thinker}), HasSubstr("only the first stage may"));
  EXPECT_EQ(refusal({code2wav, talker}), "Stage 0 (code2wav) reads frames, so it cannot be the first stage: put the "
                                         "stage that makes them before it.");
  EXPECT_EQ(refusal({thinker, code2wav}),
            "Stage 1 (code2wav) reads frames, but Stage 0 (thinker) hands on text: reorder the stages.");
  EXPECT_EQ(refusal({thinker, fake_stage("talker", modality::audio)}),
            "Stage 1 (talker) cannot answer with audio: set final_output_type at a stage that makes it.");
  EXPECT_THAT(refusal({fake_stage("thinker", modality::audio)}), HasSubstr("cannot answer with audio"));
}

} // namespace
} // namespace omni
