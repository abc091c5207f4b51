#include "test/actors/pipeline_fixture.hpp"

#include "kernels/core/error.hpp"

#include <gmock/gmock.h>
#include <random>

namespace omni::test {
namespace {

using namespace std::chrono_literals;
using testing::ElementsAre;
using testing::HasSubstr;

/// Replicas that join, leave and die while requests run.
class replica_changes : public pipeline_fixture {
protected:
  /// Where an event first stands in what the stat logger was told; after the end if it does not.
  std::size_t first(const std::string& event) {
    const auto& all = heard_by_logger.events;
    return std::size_t(std::find(all.begin(), all.end(), event) - all.begin());
  }
  void count_steps() {
    options.before_step = [this](const fake_step& step) { ++steps[{step.stage, step.runner}]; };
  }
  std::map<std::pair<std::string, int>, int> steps; // by stage and runner, if counted
  bool happened(const std::string& event) { return first(event) < heard_by_logger.events.size(); }
};

// -- joining ----------------------------------------------------------------------------------------------------------

TEST_F(replica_changes, a_late_replica_is_registered_before_it_reports_or_is_chosen) {
  statistics = true;
  start({1, 1, 1});
  const auto early = submit(chat("early", true, false, 100));
  run_until([&] { return early.heard->pieces() > 3; });
  EXPECT_FALSE(happened("register 0/1 as 3"));
  later<replica_outcome>(orchestrator, start_replicas{{{{0}, std::nullopt}}}, [](replica_outcome) {});
  std::vector<running_request> more;
  for (int i = 0; i < 6; ++i) more.push_back(submit(chat("more", true, false, 40)));
  run_until([&] { return happened("register 0/1 as 3"); });
  run();
  const auto late = submit(chat("late"));
  const auto late_too = submit(chat("late"));
  run();
  EXPECT_TRUE(happened("report 0/1")) << "it was used";
  EXPECT_LT(first("register 0/1 as 3"), first("report 0/1"));
  EXPECT_EQ(late.heard->text(), answer("late", 8));
  EXPECT_EQ(late_too.heard->text(), answer("late", 8));
}

TEST_F(replica_changes, replicas_that_start_together_are_registered_together_stage_by_stage) {
  statistics = true;
  start({2, 1, 1});
  EXPECT_THAT(heard_by_logger.events,
              ElementsAre("register 0/0 as 0", "register 0/1 as 1", "register 1/0 as 2", "register 2/0 as 3"));
}

TEST_F(replica_changes, a_late_replica_leaves_the_counters_of_the_others_alone) {
  statistics = true;
  start({1, 0, 0});
  submit(chat("one"));
  run();
  EXPECT_EQ((heard_by_logger.reports[{0, 0}].generation_tokens), 8);
  add(0);
  std::vector<running_request> both{submit(chat("two")), submit(chat("three"))};
  run();
  EXPECT_EQ((heard_by_logger.reports[{0, 0}].generation_tokens), 16);
  EXPECT_EQ((heard_by_logger.reports[{0, 1}].generation_tokens), 8);
}

TEST_F(replica_changes, sparse_ids_and_equal_ids_of_several_stages_are_told_apart) {
  statistics = true;
  start({0, 0, 0});
  EXPECT_FALSE(add(0, 3).problem);
  EXPECT_FALSE(add(1, 3).problem);
  EXPECT_FALSE(add(0, 7).problem);
  EXPECT_EQ(add(0).replicas.front().replica.value, 0);
  EXPECT_THAT(heard_by_logger.events,
              ElementsAre("register 0/3 as 0", "register 1/3 as 1", "register 0/7 as 2", "register 0/0 as 3"));
}

TEST_F(replica_changes, a_taken_id_is_refused_and_its_owner_goes_on) {
  start({1, 0, 0});
  const auto refused = add(0, 0);
  ASSERT_TRUE(refused.problem);
  EXPECT_EQ(refused.problem->code, errc::replica_conflict);
  const auto one = submit(chat("hello"));
  run();
  EXPECT_EQ(one.heard->text(), answer("hello", 8));
  EXPECT_EQ(add(5).problem->code, errc::not_found);
}

TEST_F(replica_changes, one_that_cannot_start_says_why_and_nobody_is_sent_to_it) {
  options.on_make = [](const std::string&, int runner) {
    if (runner == 1) throw load_error("No memory for the KV cache: lower kv_cache_memory_bytes.");
  };
  start({1, 0, 0});
  const auto outcome = add(0);
  ASSERT_TRUE(outcome.problem);
  EXPECT_EQ(outcome.problem->code, errc::load_failed);
  EXPECT_THAT(outcome.problem->message, HasSubstr("KV cache"));
  EXPECT_EQ(state(0, 1), replica_state::lost);
  EXPECT_FALSE(add(0).problem) << "its id is free again";
}

// -- leaving ----------------------------------------------------------------------------------------------------------

TEST_F(replica_changes, one_that_drains_finishes_its_requests_and_gets_no_new_ones) {
  start({2, 0, 0});
  const auto a = submit(chat("a", true, false, 60));
  const auto b = submit(chat("b", true, false, 60));
  run_until([&] { return a.heard->pieces() > 1 && b.heard->pieces() > 1; });
  const auto leaving = replicas.at({0, 1});
  caf::anon_send(orchestrator, remove_replica{{0}, {1}});
  std::vector<running_request> more;
  for (int i = 0; i < 4; ++i) more.push_back(submit(chat("more")));
  run();
  EXPECT_EQ(a.heard->text(), answer("a", 60));
  EXPECT_EQ(b.heard->text(), answer("b", 60));
  for (const auto& one : more) EXPECT_EQ(one.heard->text(), answer("more", 8));
  EXPECT_FALSE(state(0, 1)) << "it has left";
  EXPECT_EQ(state(0, 0), replica_state::serving);
}

TEST_F(replica_changes, an_idle_one_leaves_at_once) {
  statistics = true;
  start({2, 0, 0});
  EXPECT_FALSE(remove(0, 1));
  run();
  EXPECT_FALSE(state(0, 1));
  EXPECT_TRUE(happened("departed 0/1"));
  EXPECT_EQ(remove(0, 1)->code, errc::not_found);
}

TEST_F(replica_changes, the_last_one_of_a_stage_may_leave_and_requests_wait_for_the_next) {
  statistics = true;
  start({1, 0, 0});
  EXPECT_FALSE(remove(0, 0));
  run();
  const auto one = submit(chat("hello"));
  run();
  EXPECT_EQ(one.heard->ends(), 0);
  add(0);
  EXPECT_EQ(one.heard->text(), answer("hello", 8));
  EXPECT_EQ(std::ranges::count(heard_by_logger.events, "register 0/0 as 0"), 2) << "it has its old index";
}

TEST_F(replica_changes, one_that_is_removed_while_it_starts_never_serves) {
  start({1, 0, 0});
  bool answered = false;
  later<replica_outcome>(orchestrator, start_replicas{{{{0}, std::nullopt}}},
                         [&](replica_outcome) { answered = true; });
  run_until([&] { return replicas.contains({0, 1}); });
  EXPECT_FALSE(remove(0, 1));
  run();
  EXPECT_TRUE(answered);
  EXPECT_FALSE(state(0, 1));
}

// -- dying ------------------------------------------------------------------------------------------------------------

TEST_F(replica_changes, a_request_that_said_nothing_yet_starts_over_on_another_replica) {
  config.stages[0].max_num_batched_tokens = 16;
  count_steps();
  start({2, 0, 0});
  const auto a = submit(chat("a prompt longer than one step takes in", true, false, 12));
  const auto b = submit(chat("b", true, false, 12));
  run_until([&] { return steps[{"thinker", 0}] == 1; });
  ASSERT_EQ(a.heard->pieces(), 0);
  crash(0, 0);
  run();
  EXPECT_EQ(a.heard->text(), answer("a prompt longer than one step takes in", 12));
  EXPECT_EQ(a.heard->ends(), 1);
  EXPECT_EQ(b.heard->text(), answer("b", 12));
  EXPECT_EQ(state(0, 0), replica_state::lost);
}

TEST_F(replica_changes, a_request_that_has_spoken_fails_alone_when_its_replica_dies) {
  start({2, 0, 0});
  const auto a = submit(chat("a", true, false, 60));
  const auto b = submit(chat("b", true, false, 60));
  run_until([&] { return a.heard->pieces() > 1 && b.heard->pieces() > 1; });
  crash(0, 0);
  run();
  EXPECT_EQ(a.heard->code(), errc::replica_lost);
  EXPECT_EQ(a.heard->ends(), 1);
  EXPECT_EQ(a.heard->late(), 0);
  EXPECT_EQ(b.heard->text(), answer("b", 60));
  const auto c = submit(chat("c"));
  run();
  EXPECT_EQ(c.heard->text(), answer("c", 8)) << "nobody is sent to the dead one";
}

TEST_F(replica_changes, an_answer_that_can_be_taken_back_is_made_anew_although_it_had_begun) {
  statistics = true;
  start({2, 0, 0});
  const auto a = submit(chat("a", true, false, 60), true);
  const auto b = submit(chat("b", true, false, 60));
  run_until([&] { return a.heard->pieces() > 1 && b.heard->pieces() > 1; });
  crash(0, 0);
  run();
  EXPECT_EQ(a.heard->text(), answer("a", 60));
  EXPECT_FALSE(a.heard->problem());
  EXPECT_EQ(a.heard->ends(), 1);
  EXPECT_EQ(b.heard->text(), answer("b", 60));
  EXPECT_EQ(heard_by_logger.unfinished, 1) << "what the lost replica worked on is counted";
}

TEST_F(replica_changes, tells_of_replicas_that_come_and_go) {
  start({2, 0, 0});
  remove(0, 1);
  run();
  EXPECT_THAT(notes, ElementsAre("Replica 1 of stage 0 drains: it gets no new requests and leaves after its last one.",
                                 "Replica 1 of stage 0 has left."));
  EXPECT_TRUE(warnings.empty());
}

TEST_F(replica_changes, a_request_waits_for_a_replacement_when_there_is_no_other_replica) {
  options.before_step = [](const fake_step& step) {
    if (step.runner == 0) throw device_error("The device fell off.");
  };
  start({1, 0, 0});
  const auto one = submit(chat("hello"));
  run();
  EXPECT_EQ(one.heard->ends(), 0);
  EXPECT_EQ(state(0, 0), replica_state::lost);
  EXPECT_THAT(warnings, ElementsAre("Replica 0 of stage 0 was lost: The device fell off."));
  add(0);
  EXPECT_EQ(one.heard->text(), answer("hello", 8));
  EXPECT_EQ(one.heard->ends(), 1);
}

TEST_F(replica_changes, a_lost_request_without_a_replacement_fails_after_the_dispatch_timeout) {
  config.stages[0].max_num_batched_tokens = 16;
  count_steps();
  start({1, 0, 0});
  const auto one = submit(chat("a prompt longer than one step takes in"));
  run_until([&] { return steps[{"thinker", 0}] == 1; });
  crash(0, 0);
  run();
  advance(9s);
  EXPECT_EQ(one.heard->ends(), 0);
  advance(1s);
  EXPECT_EQ(one.heard->code(), errc::no_replica);
}

TEST_F(replica_changes, a_request_that_kills_each_replica_does_not_kill_all) {
  options.before_step = [](const fake_step&) { throw device_error("This prompt is poison."); };
  start({5, 0, 0});
  const auto one = submit(chat("hello"));
  run();
  EXPECT_EQ(one.heard->code(), errc::replica_lost);
  int alive = 0;
  for (int replica = 0; replica < 5; ++replica) alive += state(0, replica) == replica_state::serving;
  EXPECT_EQ(alive, 2);
}

TEST_F(replica_changes, the_other_stages_forget_a_request_whose_replica_died) {
  statistics = true;
  start({1, 1, 1});
  const auto one = submit(chat("hello", true, true, 100));
  run_until([&] { return !one.heard->sound().empty(); });
  crash(1, 0);
  run();
  EXPECT_EQ(one.heard->code(), errc::replica_lost);
  EXPECT_EQ(load(0, 0), 0);
  EXPECT_EQ(load(2, 0), 0);
  EXPECT_EQ((heard_by_logger.reports[{0, 0}].finished.by_reason[std::size_t(finished_as::abort)]), 1);
  EXPECT_EQ((heard_by_logger.reports[{2, 0}].finished.by_reason[std::size_t(finished_as::abort)]), 1);
  EXPECT_TRUE(happened("departed 1/0"));
}

TEST_F(replica_changes, a_request_outlives_a_replica_whose_part_was_over) {
  options.rows_per_character = 64;
  start({1, 1, 1});
  const auto one = submit(chat("hello", true, true, 4));
  run_until([&] { return one.heard->finishes().size() == 1 && one.heard->sound().size() > 200; });
  ASSERT_EQ(one.heard->ends(), 0);
  crash(0, 0);
  run();
  EXPECT_FALSE(one.heard->problem());
  EXPECT_EQ(one.heard->sound(), expected_sound(answer("hello", 4), options));
}

TEST_F(replica_changes, audio_starts_over_when_a_voice_stage_dies_before_the_first_sound) {
  bool died = false;
  options.before_step = [&](const fake_step& step) {
    if (step.stage == "talker" && !std::exchange(died, true)) throw device_error("The device fell off.");
  };
  start({1, 2, 1});
  const auto one = submit(chat("hello", false, true, 30));
  run();
  EXPECT_TRUE(died);
  EXPECT_EQ(one.heard->sound(), expected_sound(answer("hello", 30), options));
  EXPECT_EQ(one.heard->ends(), 1);
}

/// Replicas die at random moments while others serve and replacements join: every request ends once, and says all or
/// nothing wrong.
class replica_storm : public replica_changes, public testing::WithParamInterface<int> {};

TEST_P(replica_storm, ends_every_request_exactly_once) {
  std::mt19937 random{std::uint32_t(GetParam())};
  start({2, 2, 2});
  std::vector<std::pair<running_request, std::string>> all;
  for (int round = 0; round < 200; ++round) {
    const auto dice = random() % 10;
    if (dice < 6) {
      const auto prompt = std::to_string(round) + "p";
      all.emplace_back(submit(chat(prompt, true, random() % 2 == 0, 20)), prompt);
    } else if (dice < 7) {
      const int stage = int(random() % 3);
      for (const auto& [which, handle] : replicas)
        if (which.first == stage && state(stage, which.second) == replica_state::serving) {
          crash(stage, which.second);
          break;
        }
    } else if (dice < 8) {
      caf::anon_send(orchestrator, start_replicas{{{{std::int32_t(random() % 3)}, std::nullopt}}});
    } else if (!all.empty()) {
      abort(all[random() % all.size()].first.id);
    }
    int messages = int(random() % 40);
    run_until([&] { return messages-- <= 0 || !has_messages(); });
  }
  for (int stage = 0; stage < 3; ++stage) add(stage);
  run();
  advance(11s);
  for (const auto& [one, prompt] : all) {
    ASSERT_EQ(one.heard->ends(), 1) << prompt;
    EXPECT_EQ(one.heard->late(), 0);
    const auto full = answer(prompt, 20);
    const auto said = one.heard->text();
    EXPECT_EQ(said, one.heard->problem() ? full.substr(0, said.size()) : full);
  }
  for (const auto& line : ask<replica_list>(orchestrator, list_replicas{}).replicas)
    EXPECT_EQ(line.running + line.waiting, 0) << "replica " << line.replica.value << " of stage " << line.stage.value;
}

INSTANTIATE_TEST_SUITE_P(seeds, replica_storm, testing::Range(1, 21));

} // namespace
} // namespace omni::test
