#include "messages/type_ids.hpp"

#include <gtest/gtest.h>

namespace omni {
namespace {

/// What another process would get.
class travel : public testing::Test {
protected:
  template <class T>
  T sent(T what) {
    std::vector<char> bytes;
    caf::binary_serializer write(system_, bytes);
    EXPECT_FALSE(write(what));
    T read{};
    caf::binary_deserializer load(system_, bytes);
    EXPECT_FALSE(load(read));
    return read;
  }

private:
  struct config : caf::actor_system_config {
    config() { add_message_types<caf::id_block::omni>(); }
  };
  config settings_;
  caf::actor_system system_{settings_};
};

TEST_F(travel, a_request_arrives_as_it_was_sent) {
  open_request what;
  what.task.id = {7};
  what.task.attempt = 2;
  what.task.arrival = -5;
  what.task.for_next = true;
  auto& asked = what.task.what;
  asked.name = "chatcmpl-1";
  asked.prompt = {1, 2, 3};
  asked.n = 2;
  asked.voice.speaker = "ann";
  asked.sampling.seed = 42;
  asked.sampling.stop = {"a", "b"};
  asked.sampling.logit_bias = {{5, -1.5F}};
  what.next.stage = {1};
  const auto got = sent(what);
  EXPECT_EQ(got.task.id.value, 7u);
  EXPECT_EQ(got.task.attempt, 2);
  EXPECT_EQ(got.task.arrival, -5);
  EXPECT_FALSE(got.task.for_client);
  EXPECT_TRUE(got.task.for_next);
  EXPECT_EQ(got.task.what.name, "chatcmpl-1");
  EXPECT_EQ(got.task.what.prompt, asked.prompt);
  EXPECT_EQ(got.task.what.n, 2);
  EXPECT_EQ(got.task.what.voice.speaker, "ann");
  EXPECT_EQ(got.task.what.sampling.seed, 42u);
  EXPECT_FALSE(got.task.what.sampling.logprobs);
  EXPECT_EQ(got.task.what.sampling.stop, asked.sampling.stop);
  EXPECT_EQ(got.task.what.sampling.logit_bias, asked.sampling.logit_bias);
  EXPECT_EQ(got.next.stage.value, 1);
  EXPECT_FALSE(got.next.handle);
}

TEST_F(travel, the_end_of_a_share_arrives_with_and_without_a_problem) {
  stage_done what{{1}, {2}, {{9}, 1, finish_reason::length, 10, 20, std::nullopt}};
  auto got = sent(what);
  EXPECT_EQ(got.result.request.value, 9u);
  EXPECT_EQ(got.result.finish, finish_reason::length);
  EXPECT_EQ(got.result.generation_tokens, 20);
  EXPECT_FALSE(got.result.problem);
  what.result.problem = failure{errc::replica_lost, "It was lost.", "voice"};
  got = sent(what);
  ASSERT_TRUE(got.result.problem);
  EXPECT_EQ(got.result.problem->code, errc::replica_lost);
  EXPECT_EQ(got.result.problem->message, "It was lost.");
  EXPECT_EQ(got.result.problem->param, "voice");
}

TEST_F(travel, a_report_arrives_with_all_its_counts_and_can_be_merged) {
  engine_report what;
  what.stage = {1};
  what.replica = {3};
  what.generation_tokens = 12;
  what.time_to_first_token.add(0.03, what.bad, 4);
  what.finished.by_reason[1] = 2;
  what.transfer({0}, {0}, {1}, {3}).size.add(4096, what.bad);
  auto& state = what.scheduler.emplace();
  state.running = 5;
  state.kv_cache_usage = 0.5;
  auto got = sent(what);
  EXPECT_EQ(got.scheduler->running, 5);
  EXPECT_EQ(got.finished.by_reason[1], 2);
  EXPECT_FALSE(got.work);
  got.merge(sent(what));
  EXPECT_EQ(got.generation_tokens, 24);
  EXPECT_EQ(got.time_to_first_token.count(), 8);
  ASSERT_EQ(got.transfers.size(), 1u);
  EXPECT_EQ(got.transfers[0].size.count(), 2);
}

TEST_F(travel, an_answer_about_replicas_arrives) {
  replica_outcome what;
  what.replicas.push_back({{0}, {7}, {}});
  what.replicas[0].info.max_model_len = 2048;
  const auto got = sent(what);
  ASSERT_EQ(got.replicas.size(), 1u);
  EXPECT_EQ(got.replicas[0].replica.value, 7);
  EXPECT_EQ(got.replicas[0].info.max_model_len, 2048);
  EXPECT_FALSE(got.problem);
}

} // namespace
} // namespace omni
