// Qwen3-Omni from a config.json alone, through the actors: text and speech come out.
#include "actors/engine.hpp"
#include "kernels/text/chat_template.hpp"
#include "kernels/text/tokenizer.hpp"
#include "test/kernels/weights/file_builder.hpp"
#include "test/support/qwen3_omni_config.hpp"
#include "test/support/recording_sink.hpp"

#include <gtest/gtest.h>

namespace omni::test {
namespace {

TEST(dummy_omni_engine, answers_with_text_and_speech) {
  const temporary_folder folder;
  write_config(folder.path(), tiny_qwen3_omni_config());
  engine_config config;
  for (const char* name : {"thinker", "talker", "code2wav"}) {
    auto& stage = config.stages.emplace_back();
    stage.id = {std::int32_t(config.stages.size()) - 1};
    stage.model_stage = name;
    stage.model = folder.path().string();
    stage.load_format = "dummy";
  }
  config.stages.front().final_output_type = modality::text;
  config.stages.back().final_output_type = modality::audio;
  config.threads = 2;
  auto running = engine::start(config);
  ASSERT_TRUE(running) << running.error().message;

  const stage_model& thinker = (*running)->model({0});
  request what;
  what.prompt = thinker.tokenizer()->encode(thinker.chat_template()->render(
      {{"messages", {{{"role", "user"}, {"content", "hello"}}}}, {"add_generation_prompt", true}}));
  what.sampling.temperature = 0;
  what.sampling.max_tokens = 8;
  what.sampling.ignore_eos = true;
  sampling_params speech;
  speech.temperature = 0;
  speech.max_tokens = 6;
  what.stage_sampling = {std::nullopt, speech};
  what.want_audio = true;
  const auto heard = std::make_shared<recording_sink>();
  ASSERT_TRUE((*running)->submit(what, heard));
  heard->wait_for_end();
  ASSERT_FALSE(heard->problem()) << heard->problem()->message;
  EXPECT_EQ(heard->tokens().size(), 8U);
  EXPECT_FALSE(heard->sound().empty());
}

} // namespace
} // namespace omni::test
