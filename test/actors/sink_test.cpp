#include "actors/sink.hpp"

#include "test/support/actor_fixture.hpp"
#include "test/support/recording_sink.hpp"

namespace omni::test {
namespace {

class sink_actor_test : public actor_fixture {
protected:
  void start(std::int32_t awaited) { actor = system.spawn(sink_behavior, std::shared_ptr<sink>(heard), awaited); }
  void piece(std::string text, bool last = false, std::int32_t attempt = 0) {
    output what;
    what.text = std::move(text);
    if (last) what.finish = finish_reason::stop;
    caf::anon_send(actor, answer_piece{attempt, what});
    run();
  }
  void tell(request_over what) {
    caf::anon_send(actor, std::move(what));
    run();
  }
  void over() { tell({}); }
  void fail() { tell({failure{errc::replica_lost, "It was lost.", {}}}); }

  std::shared_ptr<recording_sink> heard = std::make_shared<recording_sink>();
  sink_actor actor;
};

TEST_F(sink_actor_test, ends_once_when_all_answers_have_ended_and_the_request_is_let_go) {
  start(2);
  piece("a", true);
  piece("b", true);
  EXPECT_EQ(heard->ends(), 0) << "it may still hold a place";
  over();
  EXPECT_EQ(heard->ends(), 1);
  EXPECT_FALSE(heard->problem());
  piece("late");
  fail();
  EXPECT_EQ(heard->ends(), 1);
  EXPECT_EQ(heard->late(), 0);
}

TEST_F(sink_actor_test, awaits_answers_that_are_on_their_way_when_the_request_is_let_go) {
  start(1);
  over();
  EXPECT_EQ(heard->ends(), 0);
  piece("a", true);
  EXPECT_EQ(heard->ends(), 1);
  EXPECT_FALSE(heard->problem());
  EXPECT_EQ(heard->text(), "a");
}

TEST_F(sink_actor_test, ends_with_the_reason_of_a_failure_and_drops_what_comes_later) {
  start(1);
  piece("a");
  fail();
  piece("late", true);
  EXPECT_EQ(heard->code(), errc::replica_lost);
  EXPECT_EQ(heard->ends(), 1);
  EXPECT_EQ(heard->late(), 0);
}

TEST_F(sink_actor_test, lets_a_request_start_over_only_while_nothing_was_heard) {
  start(1);
  EXPECT_EQ(ask<start_over_answer>(actor, start_over{1}), start_over_answer::allowed);
  piece("of the first attempt", false, 0);
  EXPECT_EQ(heard->pieces(), 0);
  piece("of the second", false, 1);
  EXPECT_EQ(heard->text(), "of the second");
  EXPECT_EQ(ask<start_over_answer>(actor, start_over{2}), start_over_answer::already_heard);
  piece(" goes on", true, 1);
  EXPECT_EQ(heard->text(), "of the second goes on");
  EXPECT_EQ(ask<start_over_answer>(actor, start_over{2}), start_over_answer::complete);
}

TEST_F(sink_actor_test, lets_a_request_start_over_when_its_answer_can_be_taken_back) {
  heard->takes_back = true;
  start(2);
  piece("half", true);
  EXPECT_EQ(ask<start_over_answer>(actor, start_over{1}), start_over_answer::allowed);
  EXPECT_EQ(heard->text(), "");
  piece("late", false, 0);
  piece("whole", true, 1);
  over();
  EXPECT_EQ(heard->ends(), 0) << "the other answer must end again too";
  piece(" and all", true, 1);
  EXPECT_EQ(heard->ends(), 1);
  EXPECT_EQ(heard->text(), "whole and all");
}

TEST_F(sink_actor_test, tells_the_end_even_when_everybody_forgets_it) {
  start(1);
  piece("a");
  actor = nullptr;
  run();
  EXPECT_EQ(heard->ends(), 1);
  EXPECT_EQ(heard->code(), errc::shutting_down);
}

TEST_F(sink_actor_test, ends_well_when_it_is_forgotten_with_a_whole_answer) {
  start(1);
  piece("a", true);
  actor = nullptr;
  run();
  EXPECT_EQ(heard->ends(), 1);
  EXPECT_FALSE(heard->problem());
}

TEST_F(sink_actor_test, awaits_each_choice_and_each_modality) {
  request what;
  EXPECT_EQ(awaited_answers(what), 1);
  what.n = 3;
  EXPECT_EQ(awaited_answers(what), 3);
  what.n = 1;
  what.want_audio = true;
  EXPECT_EQ(awaited_answers(what), 2);
  what.want_text = false;
  EXPECT_EQ(awaited_answers(what), 1);
}

} // namespace
} // namespace omni::test
