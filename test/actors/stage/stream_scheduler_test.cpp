#include "actors/stage/stream_scheduler.hpp"

#include "test/actors/stage/scheduler_harness.hpp"

#include <gmock/gmock.h>
#include <map>

namespace omni::test {
namespace {

using testing::ElementsAre;

stream_limits limits(const fake_options& options = {}) {
  return {4, double(options.sample_rate) / options.samples_per_row, options.sample_rate};
}

scheduler_harness talker() { return {std::make_unique<stream_scheduler>(limits()), "talker", {}}; }
scheduler_harness code2wav() { return {std::make_unique<stream_scheduler>(limits()), "code2wav", {}}; }

stage_task voice_task(std::uint64_t id) {
  stage_task task;
  task.id = {id};
  task.for_next = true;
  return task;
}

stage_task sound_task(std::uint64_t id) {
  stage_task task;
  task.id = {id};
  task.for_client = true;
  return task;
}

std::shared_ptr<payload> rows(std::int64_t count) {
  auto made = std::make_shared<payload>();
  made->what = payload::kind::rows;
  made->rows = count;
  made->width = 1;
  made->bytes.resize(std::size_t(count) * sizeof(float));
  return made;
}

std::int64_t rows_handed_on(scheduler_harness& run, std::uint64_t id) {
  std::int64_t count = 0;
  for (const auto& piece : run.handed_on[id])
    if (piece.data) count += piece.data->rows;
  return count;
}

TEST(stream_scheduler, has_no_work_before_input_comes) {
  auto run = talker();
  run.open(voice_task(1));
  EXPECT_FALSE(run.plans->has_work());
  run.feed({1}, "hi", false);
  EXPECT_TRUE(run.plans->has_work());
  run.run();
  EXPECT_FALSE(run.plans->has_work());
  EXPECT_TRUE(run.results.empty()) << "more may follow";
  EXPECT_EQ(rows_handed_on(run, 1), 4);
}

TEST(stream_scheduler, calls_again_until_input_is_used_up) {
  auto run = talker();
  run.open(voice_task(1));
  run.feed({1}, "sixteen letters!", true);
  run.run();
  EXPECT_EQ(run.steps, 4);
  EXPECT_EQ(rows_handed_on(run, 1), 32);
  EXPECT_TRUE(run.handed_on[1].back().end);
  EXPECT_EQ(run.results.at(1).finish, finish_reason::stop);
  EXPECT_TRUE(run.slots.empty());
}

TEST(stream_scheduler, ends_when_only_the_end_arrives) {
  auto run = talker();
  run.open(voice_task(1));
  run.plans->feed({1}, nullptr, true, run.now);
  run.run();
  ASSERT_EQ(run.handed_on[1].size(), 1u);
  EXPECT_TRUE(run.handed_on[1][0].end);
  EXPECT_EQ(run.handed_on[1][0].data, nullptr);
}

TEST(stream_scheduler, joins_pieces_of_text_that_wait) {
  auto run = talker();
  run.open(voice_task(1));
  for (const char* piece : {"a", "b", "c"}) run.feed({1}, piece, false);
  run.feed({1}, "d", true);
  run.run();
  EXPECT_EQ(run.steps, 1);
  EXPECT_EQ(rows_handed_on(run, 1), 8);
}

TEST(stream_scheduler, speaks_the_text_of_a_request_that_enters_here) {
  auto run = talker();
  auto task = voice_task(1);
  task.what.text = "hello";
  run.open(task);
  run.run();
  EXPECT_EQ(rows_handed_on(run, 1), 10);
  EXPECT_TRUE(run.results.contains(1));
}

TEST(stream_scheduler, tells_the_client_that_sound_has_ended) {
  auto run = code2wav();
  run.open(sound_task(1));
  run.plans->feed({1}, rows(6), true, run.now);
  run.run();
  EXPECT_EQ(run.of(1).sound.size(), 24u);
  EXPECT_EQ(run.of(1).finish, finish_reason::stop);
}

TEST(stream_scheduler, serves_first_who_runs_dry_first) {
  auto run = code2wav();
  for (std::uint64_t id : {1, 2}) run.open(sound_task(id));
  run.plans->feed({1}, rows(64), true, run.now);
  run.step(); // 8 rows: 40 ms of sound for the first
  run.step(); // 80 ms
  run.now += 1'000'000;
  std::vector<sequence_slot> order;
  run.plans->feed({2}, rows(8), true, run.now);
  const auto& work = run.plans->plan(run.now);
  for (const auto& item : work.items) order.push_back(item.slot);
  EXPECT_THAT(order, ElementsAre(0)) << "the first is dry, the second has its start budget";
}

TEST(stream_scheduler, keeps_those_that_can_wait_out_of_an_urgent_step) {
  auto run = code2wav();
  for (std::uint64_t id = 1; id <= 3; ++id) {
    run.open(sound_task(id));
    run.plans->feed({id}, rows(100), true, run.now);
  }
  std::size_t together = 0;
  run.on_batch = [&](const batch& work) { together = work.items.size(); };
  run.step();
  EXPECT_EQ(together, 1u) << "nobody is due soon: one after the other";
  run.now += 150'000;
  run.step();
  EXPECT_EQ(together, 3u) << "all are due soon: together";
}

TEST(stream_scheduler, holds_no_more_sequences_in_a_step_than_allowed) {
  auto run = code2wav();
  for (std::uint64_t id = 1; id <= 9; ++id) {
    run.open(sound_task(id));
    run.plans->feed({id}, rows(1), true, run.now);
  }
  run.now += 10'000'000;
  EXPECT_EQ(run.plans->plan(run.now).items.size(), 4u);
}

TEST(stream_scheduler, never_lets_anyone_run_dry_while_it_can_keep_up) {
  auto run = code2wav();
  run.step_us = 5000; // a step makes 40 ms of sound for one listener, so 8 listeners are what it can do
  const int listeners = 6;
  for (std::uint64_t id = 1; id <= listeners; ++id) {
    run.open(sound_task(id));
    run.plans->feed({id}, rows(400), true, run.now);
    run.step();
  }
  run.run();
  EXPECT_EQ(run.results.size(), std::size_t(listeners));
  EXPECT_EQ(run.facts.audio.continuity_ok, listeners);
  EXPECT_DOUBLE_EQ(run.facts.audio.underrun.sum, 0);
}

TEST(stream_scheduler, forgets_an_aborted_request_and_what_comes_for_it_later) {
  auto run = talker();
  run.open(voice_task(1));
  run.feed({1}, "some text", false);
  run.end({1});
  EXPECT_TRUE(run.slots.empty());
  EXPECT_FALSE(run.plans->has_work());
  run.feed({1}, "more", true);
  EXPECT_FALSE(run.plans->has_work());
  EXPECT_EQ(run.results.at(1).finish, finish_reason::abort);
}

TEST(stream_scheduler, counts_the_sound_it_made) {
  auto run = code2wav();
  auto task = sound_task(1);
  task.arrival = run.now - 100'000;
  run.open(task);
  run.plans->feed({1}, rows(16), true, run.now);
  run.step_us = 10'000;
  run.run();
  const auto& audio = run.facts.audio;
  EXPECT_EQ(audio.frames, 64);
  EXPECT_DOUBLE_EQ(audio.ttfp.sum, 0.11);
  EXPECT_DOUBLE_EQ(audio.duration.sum, 0.08);
  EXPECT_DOUBLE_EQ(audio.rtf.sum, 0.25);
  EXPECT_EQ(audio.skipped, 0);
  EXPECT_NEAR(run.facts.units, 0.08, 1e-9);
}

TEST(stream_scheduler, counts_its_own_time_from_the_first_input_on) {
  auto run = code2wav();
  run.open(sound_task(1));
  run.open(sound_task(2));
  run.now += 3'000'000; // the stages before it work
  run.plans->feed({1}, rows(16), false, run.now);
  run.step();
  EXPECT_EQ(run.facts.scheduler->running, 1);
  EXPECT_EQ(run.facts.scheduler->deferred, 1);
  run.plans->feed({1}, nullptr, true, run.now);
  run.run();
  EXPECT_NEAR(run.facts.stage_gen_time.sum, 0.002, 1e-9);
  EXPECT_NEAR(run.facts.finished.queued_time.sum, 0, 1e-9);
}

TEST(stream_scheduler, counts_a_request_without_sound_as_skipped) {
  auto run = code2wav();
  run.open(sound_task(1));
  run.plans->feed({1}, nullptr, true, run.now);
  run.run();
  EXPECT_EQ(run.facts.audio.skipped, 1);
  EXPECT_EQ(run.of(1).finish, finish_reason::stop);
  EXPECT_TRUE(run.of(1).sound.empty());
}

/// A stage that makes rows one by one, two in a step; what a step finds is given by hand.
struct token_stage {
  stream_scheduler plans{stream_limits{2, 12.5, 24000, true}};
  emissions out;
  std::map<std::uint64_t, sequence_slot> slots;

  void open(std::uint64_t id) {
    plans.open(voice_task(id), 0, out);
    slots[id] = out.opened.back().slot;
    plans.feed({id}, rows(1), true, 0);
  }
  /// Slots of the next step, in order.
  std::vector<sequence_slot> plan(time_us now = 0) {
    std::vector<sequence_slot> found;
    for (const auto& item : plans.plan(now).items) found.push_back(item.slot);
    planned = found.size();
    return found;
  }
  item_result busy() {
    item_result one;
    one.input_used_up = false;
    return one;
  }
  item_result without_room() {
    auto one = busy();
    one.no_room = true;
    return one;
  }
  item_result speaking() {
    auto one = busy();
    one.outputs.push_back(rows(20));
    return one;
  }
  item_result ended(bool cut = false) {
    item_result one;
    one.finished = true;
    one.cut_short = cut;
    return one;
  }
  void found(std::vector<item_result> items, std::vector<sequence_slot> preempted = {}) {
    step_result result;
    result.items = std::move(items);
    result.preempted = std::move(preempted);
    ASSERT_EQ(result.items.size(), planned);
    plans.update(result, 0, out);
  }
  std::size_t planned = 0;
};

TEST(stream_scheduler, passes_over_who_finds_no_room_until_some_is_given_back) {
  token_stage run;
  for (std::uint64_t id : {1, 2, 3, 4}) run.open(id);
  EXPECT_THAT(run.plan(), ElementsAre(run.slots[1], run.slots[2]));
  run.found({run.speaking(), run.without_room()});
  EXPECT_EQ(run.out.report.scheduler->waiting, 1) << "for room";
  // The one with room has sound in store now, so it is the least urgent; it goes on all the same.
  EXPECT_THAT(run.plan(), ElementsAre(run.slots[3], run.slots[4]));
  run.found({run.without_room(), run.without_room()});
  EXPECT_THAT(run.plan(), ElementsAre(run.slots[1]));
  run.found({run.speaking()});
  EXPECT_THAT(run.plan(), ElementsAre(run.slots[1]));
  run.found({run.ended()});
  EXPECT_THAT(run.plan(), ElementsAre(run.slots[2], run.slots[3]));
}

TEST(stream_scheduler, without_room_for_anybody_begins_with_the_oldest) {
  token_stage run;
  for (std::uint64_t id : {1, 2, 3}) run.open(id);
  run.plan();
  run.found({run.without_room(), run.without_room()});
  EXPECT_THAT(run.plan(), ElementsAre(run.slots[3]));
  run.found({run.without_room()});
  EXPECT_THAT(run.plan(), ElementsAre(run.slots[1], run.slots[2])) << "a step is never empty while there is work";
}

TEST(stream_scheduler, room_that_an_abort_gives_back_is_tried_at_once) {
  token_stage run;
  for (std::uint64_t id : {1, 2}) run.open(id);
  run.plan();
  run.found({run.speaking(), run.without_room()});
  EXPECT_THAT(run.plan(), ElementsAre(run.slots[1]));
  run.found({run.speaking()});
  run.plans.end({1}, std::nullopt, 0, run.out);
  EXPECT_THAT(run.plan(), ElementsAre(run.slots[2]));
}

TEST(stream_scheduler, counts_who_gave_room_up_and_who_was_cut_short) {
  token_stage run;
  run.open(1);
  run.plan();
  run.found({run.speaking()}, {run.slots[1]});
  run.plan();
  run.found({run.ended(true)});
  EXPECT_EQ(run.out.report.preemptions, 1);
  EXPECT_EQ(run.out.results.back().finish, finish_reason::length);
  EXPECT_FALSE(run.out.results.back().problem);
  EXPECT_TRUE(run.out.chunks.back().end) << "the next stage hears of the end";
}

} // namespace
} // namespace omni::test
