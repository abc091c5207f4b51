#pragma once

#include "kernels/runtime/runner.hpp"

#include <deque>
#include <gtest/gtest.h>
#include <map>
#include <memory>
#include <vector>

namespace omni::test {

/// Plays the scheduler of a stage that turns a stream into another: a sequence gets its next input when the last one is
/// used up.
class stage_player {
public:
  explicit stage_player(runner& stage) : stage_(stage) {}

  void open(sequence_slot slot, const sequence_params& params) {
    stage_.open(slot, params);
    sequences_[slot] = {};
  }
  void close(sequence_slot slot) {
    stage_.close(slot);
    sequences_.erase(slot);
  }
  void give(sequence_slot slot, std::shared_ptr<const payload> input) {
    sequences_.at(slot).input.push_back(std::move(input));
  }
  void give_end(sequence_slot slot) { sequences_.at(slot).ended = true; }

  /// One step over those of `slots` that have something to do; false if none has.
  bool step(const std::vector<sequence_slot>& slots) {
    batch work;
    for (const auto slot : slots) {
      auto& one = sequences_.at(slot);
      if (one.finished || (one.used_up && one.input.empty() && (!one.ended || one.told_end))) continue;
      auto& item = work.items.emplace_back();
      item.slot = slot;
      if (one.used_up && !one.input.empty()) {
        item.input = one.input.front();
        one.input.pop_front();
      }
      item.end_of_input = one.told_end = one.ended && one.input.empty();
    }
    if (work.items.empty()) return false;
    const auto result = stage_.execute(work);
    for (std::size_t i = 0; i < work.items.size(); ++i) {
      auto& one = sequences_.at(work.items[i].slot);
      const auto& item = result.items[i];
      EXPECT_EQ(item.input_problem, "");
      one.outputs.insert(one.outputs.end(), item.outputs.begin(), item.outputs.end());
      one.used_up = item.input_used_up;
      one.finished = item.finished || !item.input_problem.empty();
      EXPECT_TRUE(one.finished || !one.used_up || !one.told_end) << "a sequence whose input has ended must go on";
    }
    return true;
  }

  [[nodiscard]] bool finished(sequence_slot slot) const { return sequences_.at(slot).finished; }
  [[nodiscard]] const std::vector<std::shared_ptr<const payload>>& outputs(sequence_slot slot) const {
    return sequences_.at(slot).outputs;
  }
  [[nodiscard]] std::vector<float> floats_of(sequence_slot slot) const {
    std::vector<float> all;
    for (const auto& out : outputs(slot)) all.insert(all.end(), out->f32(), out->f32() + out->rows * out->width);
    return all;
  }
  [[nodiscard]] std::vector<std::int32_t> codes_of(sequence_slot slot) const {
    std::vector<std::int32_t> all;
    for (const auto& out : outputs(slot)) all.insert(all.end(), out->i32(), out->i32() + out->rows * out->width);
    return all;
  }

private:
  struct sequence {
    std::deque<std::shared_ptr<const payload>> input;
    bool ended = false, told_end = false, used_up = true, finished = false;
    std::vector<std::shared_ptr<const payload>> outputs;
  };
  runner& stage_;
  std::map<sequence_slot, sequence> sequences_;
};

} // namespace omni::test
