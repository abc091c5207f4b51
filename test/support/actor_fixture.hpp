#pragma once

#include "messages/type_ids.hpp"

#include <caf/scheduler/test_coordinator.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <gtest/gtest.h>
#include <vector>

namespace omni::test {

/// An actor system in the test's own thread and in virtual time: messages are delivered only by `run`, time passes only
/// by `advance`. Actors that `keep` was told of are ended at the end of the test, so that the system can end too.
class actor_fixture : public testing::Test {
protected:
  actor_fixture()
      : system(settings_), scheduler_(dynamic_cast<caf::scheduler::test_coordinator&>(system.scheduler())) {}

  ~actor_fixture() override {
    for (const auto& one : kept_) caf::anon_send_exit(one, caf::exit_reason::kill);
    kept_.clear();
    run();
  }

  template <class Handle>
  Handle keep(const Handle& one) {
    kept_.push_back(caf::actor_cast<caf::actor>(one));
    return one;
  }

  /// Delivers messages until there is none.
  void run() {
    while (run_one()) {}
  }
  /// Lets one actor after the other work until `reached`; fails the test if that never happens.
  void run_until(const std::function<bool()>& reached) {
    while (!reached()) ASSERT_TRUE(run_one()) << "nothing is left to do, but it was not reached";
  }
  [[nodiscard]] bool has_messages() const { return scheduler_.has_job(); }
  /// Lets time pass; delivers nothing. Also while an actor works, for work that takes time.
  void pass(std::chrono::milliseconds span) { scheduler_.advance_time(span); }
  /// Lets time pass, then delivers messages.
  void advance(std::chrono::milliseconds span) {
    pass(span);
    run();
  }

  /// Asks an actor and returns its answer.
  template <class Answer, class Handle, class Question>
  Answer ask(const Handle& whom, Question question) {
    Answer found{};
    bool answered = false;
    later<Answer>(whom, std::move(question), [&](Answer answer) {
      found = std::move(answer);
      answered = true;
    });
    run();
    EXPECT_TRUE(answered) << "no answer came";
    return found;
  }
  /// Asks an actor, and calls `done` when it answers.
  template <class Answer, class Handle, class Question>
  void later(const Handle& whom, Question question, std::function<void(Answer)> done) {
    keep(system.spawn([=](caf::event_based_actor* self) {
      self->request(whom, caf::infinite, question)
          .then([=](Answer& answer) { done(std::move(answer)); }, [](caf::error&) {});
    }));
  }

private:
  /// Delivers one message. The coordinator would let an actor with more messages go on; others get their turn here, as
  /// with real threads, or a replica would finish all its steps before anybody hears of the first.
  bool run_one() {
    if (!scheduler_.try_run_once()) return false;
    auto& jobs = scheduler_.jobs;
    if (jobs.size() > 1) std::rotate(jobs.begin(), jobs.begin() + 1, jobs.end());
    return true;
  }

  struct config : caf::actor_system_config {
    config() {
      add_message_types<caf::id_block::omni>();
      set("scheduler.policy", caf::atom("testing"));
    }
  };
  config settings_;

protected:
  caf::actor_system system;

private:
  caf::scheduler::test_coordinator& scheduler_;
  std::vector<caf::actor> kept_;
};

} // namespace omni::test
