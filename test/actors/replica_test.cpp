#include "test/actors/pipeline_fixture.hpp"

#include <cstring>
#include <gmock/gmock.h>

namespace omni::test {
namespace {

using testing::HasSubstr;

/// What a replica told its owner.
struct owner_log {
  std::vector<stage_done> done;
  std::vector<replica_ready> ready;
  std::vector<replica_failed> failed;
};

orchestrator_actor::behavior_type note(orchestrator_actor::pointer, owner_log* into) {
  return {
      [](const omni::submit&) {},
      [](const abort_request&) {},
      [=](const stage_done& what) { into->done.push_back(what); },
      [=](const replica_ready& what) { into->ready.push_back(what); },
      [=](const replica_failed& what) { into->failed.push_back(what); },
      [](const start_replicas&) { return replica_outcome{}; },
      [](const remove_replica&) { return replica_outcome{}; },
      [](const join_replica&) { return join_answer{}; },
      [](list_replicas) { return replica_list{}; },
      [](drain_engine) { return engine_drained{}; },
      [](stop_engine) {},
      [](const place_timeout&) {},
  };
}

request chat_request(std::string_view prompt, std::int32_t max_tokens = 8) {
  request what;
  what.prompt = fake_tokens(prompt);
  what.sampling.temperature = 0;
  what.sampling.ignore_eos = true;
  what.sampling.max_tokens = max_tokens;
  return what;
}

/// One replica, its owner and the replica after it played by the test.
class replica : public actor_fixture {
protected:
  void start(const std::string& stage) {
    config.model_stage = stage;
    owner = keep(system.spawn(note, &log));
    worker = keep(system.spawn(replica_behavior,
                               replica_options{{1}, {4}, config, fake_stage_model(stage, options), &pool, owner, {}}));
    run();
  }
  std::shared_ptr<recording_sink> open(std::uint64_t id, request what, std::int32_t attempt = 0) {
    auto heard = std::make_shared<recording_sink>();
    what.want_text = config.model_stage == "thinker";
    what.want_audio = !what.want_text;
    const auto answers = keep(system.spawn(sink_behavior, std::shared_ptr<sink>(heard), 1));
    if (attempt > 0) caf::anon_send(answers, start_over{attempt});
    stage_task task{{id}, attempt, std::move(what), 0, true, false};
    caf::anon_send(worker, open_request{std::move(task), {}, answers});
    return heard;
  }
  void feed(std::uint64_t id, std::uint32_t number, const std::string& text, bool end, std::int32_t attempt = 0) {
    auto piece = std::make_shared<payload>();
    if (config.model_stage == "code2wav") {
      piece->what = payload::kind::rows;
      piece->rows = std::int64_t(text.size());
      piece->width = 1;
      std::vector<float> values(text.begin(), text.end());
      piece->bytes.resize(values.size() * sizeof(float));
      std::memcpy(piece->bytes.data(), values.data(), piece->bytes.size());
    }
    caf::anon_send(worker, chunk{{id}, attempt, {0}, {0}, number, piece, end, 0});
  }

  stage_config config;
  fake_options options;
  thread_pool pool{1};
  owner_log log;
  orchestrator_actor owner;
  stage_replica_actor worker;
};

TEST_F(replica, tells_its_owner_when_it_can_serve) {
  start("thinker");
  ASSERT_EQ(log.ready.size(), 1u);
  EXPECT_EQ(log.ready[0].stage.value, 1);
  EXPECT_EQ(log.ready[0].replica.value, 4);
  EXPECT_EQ(log.ready[0].info.block_size, 4);
}

TEST_F(replica, tells_its_owner_once_when_its_share_of_a_request_is_over) {
  start("thinker");
  open(1, chat_request("hello"));
  run();
  ASSERT_EQ(log.done.size(), 1u);
  EXPECT_EQ(log.done[0].result.finish, finish_reason::length);
  EXPECT_EQ(log.done[0].result.generation_tokens, 8);
}

TEST_F(replica, takes_new_requests_and_aborts_in_between_two_steps) {
  start("thinker");
  const auto a = open(1, chat_request("hello", 100));
  run_until([&] { return a->pieces() > 3; });
  const auto b = open(2, chat_request("other", 4));
  run_until([&] { return b->finishes().size() == 1; });
  EXPECT_TRUE(a->finishes().empty()) << "both were worked on together";
  caf::anon_send(worker, abort_request{{1}});
  run();
  EXPECT_LT(a->tokens().size(), 100u);
}

TEST_F(replica, drops_pieces_of_earlier_attempts_and_of_unknown_requests) {
  start("code2wav");
  const auto heard = open(1, {}, 1);
  feed(1, 0, "old", false, 0);
  feed(9, 0, "unknown", true);
  feed(1, 0, "ab", true, 1);
  run();
  EXPECT_EQ(heard->sound().size(), 2u * 4);
  EXPECT_EQ(heard->finishes().size(), 1u);
}

TEST_F(replica, fails_a_request_when_a_piece_is_missing) {
  start("code2wav");
  open(1, {});
  feed(1, 0, "ab", false);
  feed(1, 2, "cd", true);
  run();
  ASSERT_EQ(log.done.size(), 1u);
  EXPECT_EQ(log.done[0].result.problem->code, errc::internal);
}

TEST_F(replica, refuses_a_request_that_its_runner_refuses_and_goes_on) {
  start("code2wav");
  request bad;
  bad.voice.speaker = "nobody";
  open(1, bad);
  const auto good = open(2, {});
  feed(2, 0, "ab", true);
  run();
  ASSERT_EQ(log.done.size(), 2u);
  EXPECT_EQ(log.done[0].result.problem->param, "voice");
  EXPECT_FALSE(log.done[1].result.problem);
  EXPECT_EQ(good->finishes().size(), 1u);
  EXPECT_TRUE(log.failed.empty());
}

TEST_F(replica, ends_with_a_reason_when_its_device_fails) {
  options.before_step = [](const fake_step&) { throw std::runtime_error("The device fell off."); };
  start("thinker");
  open(1, chat_request("hello"));
  run();
  ASSERT_EQ(log.failed.size(), 1u);
  EXPECT_EQ(log.failed[0].problem.code, errc::replica_lost);
  EXPECT_THAT(log.failed[0].problem.message, HasSubstr("fell off"));
  EXPECT_TRUE(log.done.empty());
}

TEST_F(replica, ends_when_its_owner_ends) {
  start("thinker");
  bool ended = false;
  worker->attach_functor([&] { ended = true; });
  caf::anon_send_exit(owner, caf::exit_reason::kill);
  run();
  EXPECT_TRUE(ended);
}

} // namespace
} // namespace omni::test
