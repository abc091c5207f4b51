#pragma once

#include "actors/stage/scheduler.hpp"
#include "test/support/fake_runner.hpp"

#include <functional>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace omni::test {

/// A scheduler with a fake runner and no actors: does what a replica does, and keeps what came of it.
class scheduler_harness {
public:
  struct heard {
    std::string text;
    std::vector<std::int32_t> tokens;
    std::vector<float> sound;
    std::optional<finish_reason> finish;
    std::string stop_reason;
    token_usage usage;
    int pieces = 0;
  };

  scheduler_harness(std::unique_ptr<scheduler> what, const std::string& stage, const fake_options& options)
      : plans(std::move(what)), pool_(1), runner_(fake_stage_model(stage, options)->make_runner({}, pool_)) {}

  void open(stage_task task) {
    plans->open(std::move(task), now, out);
    carry_out();
  }
  void feed(request_id id, std::string_view text, bool end) {
    auto piece = std::make_shared<payload>();
    piece->text = text;
    plans->feed(id, std::move(piece), end, now);
  }
  void end(request_id id, const std::optional<failure>& problem = {}) {
    plans->end(id, problem, now, out);
    carry_out();
  }
  /// One step; `step_us` passes while it is computed.
  void step() {
    const auto& work = plans->plan(now);
    if (on_batch) on_batch(work);
    const auto result = runner_->execute(work);
    now += step_us;
    plans->update(result, now, out);
    carry_out();
    ++steps;
  }
  void run() {
    for (int limit = 0; plans->has_work(); ++limit) {
      ASSERT_LT(limit, 100'000) << "the scheduler makes no progress";
      step();
    }
  }
  /// What came of a choice of a request.
  const heard& of(std::uint64_t id, std::int32_t choice = 0) { return answers_[{id, choice}]; }

  std::unique_ptr<scheduler> plans;
  time_us now = 1'000'000;
  time_us step_us = 1000;
  int steps = 0;
  emissions out;       // cleared but for the report, which gathers
  engine_report facts; // of all steps
  std::map<std::uint64_t, stage_result> results;
  std::map<std::uint64_t, std::vector<emissions::handover>> handed_on;
  std::set<sequence_slot> slots; // open in the runner
  std::function<void(const batch&)> on_batch;

private:
  void carry_out() {
    for (const auto slot : std::exchange(out.closed, {})) {
      runner_->close(slot);
      slots.erase(slot);
    }
    for (const auto& one : std::exchange(out.opened, {})) {
      runner_->open(one.slot, one.params);
      slots.insert(one.slot);
    }
    for (auto& one : std::exchange(out.chunks, {})) handed_on[one.request.value].push_back(std::move(one));
    for (const auto& piece : std::exchange(out.outputs, {})) hear(piece);
    for (auto& one : std::exchange(out.results, {})) {
      EXPECT_FALSE(results.contains(one.request.value)) << "a request ends once";
      results[one.request.value] = std::move(one);
    }
    facts.merge(std::exchange(out.report, {}));
  }

  void hear(const output& piece) {
    auto& answer = answers_[{piece.request.value, piece.choice}];
    EXPECT_FALSE(answer.finish) << "nothing comes after the end";
    ++answer.pieces;
    answer.text += piece.text;
    for (const auto& token : piece.tokens) answer.tokens.push_back(token.id);
    if (piece.audio)
      answer.sound.insert(answer.sound.end(), piece.audio->f32(), piece.audio->f32() + piece.audio->rows);
    answer.finish = piece.finish;
    answer.stop_reason = piece.stop_reason;
    answer.usage = piece.usage;
  }

  thread_pool pool_;
  std::unique_ptr<runner> runner_;
  std::map<std::pair<std::uint64_t, std::int32_t>, heard> answers_;
};

inline stage_task text_task(std::uint64_t id, std::string_view prompt, std::int32_t max_tokens = 16) {
  stage_task task;
  task.id = {id};
  task.for_client = true;
  task.what.prompt = fake_tokens(prompt);
  task.what.sampling.temperature = 0;
  task.what.sampling.max_tokens = max_tokens;
  task.what.sampling.ignore_eos = true;
  task.what.sampling.seed = 0;
  return task;
}

} // namespace omni::test
