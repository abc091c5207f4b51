#pragma once

#include "kernels/models/stage_model.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace omni::test {

/// Plays the scheduler of an autoregressive stage: sequences with blocks of their own, fed by the test.
class ar_session {
public:
  using ids = std::vector<std::int32_t>;

  explicit ar_session(const stage_model& model, const runner_options& options = {}, unsigned threads = 2)
      : pool_(threads), runner_(model.make_runner(options, pool_)) {}

  void open(sequence_slot slot, const sequence_params& params) {
    runner_->open(slot, params);
    auto& s = sequences_[slot];
    s.tokens = params.prompt;
    s.blocks.resize(blocks_each);
    std::iota(s.blocks.begin(), s.blocks.end(), blocks_each * next_place_++);
  }
  void open(sequence_slot slot, const ids& prompt, const sampling_params& sampling) {
    sequence_params params;
    params.sampling = sampling;
    params.prompt = prompt;
    open(slot, params);
  }
  void close(sequence_slot slot) {
    runner_->close(slot);
    sequences_.erase(slot);
  }
  /// Forgets what is cached of a sequence: it is fed again from the start, into other blocks.
  void interrupt(sequence_slot slot) {
    auto& s = sequences_.at(slot);
    s.fed = 0;
    std::iota(s.blocks.begin(), s.blocks.end(), blocks_each * next_place_++);
  }

  /// One step: at most `most` tokens of each of `slots`; a sequence whose last token was fed gets its next one.
  step_result step(const std::vector<sequence_slot>& slots, std::size_t most = 1000) {
    batch work;
    for (const auto slot : slots) {
      auto& s = sequences_.at(slot);
      const std::size_t n = std::min(most, s.tokens.size() - s.fed);
      batch_item item;
      item.slot = slot;
      item.tokens = {s.tokens.data() + s.fed, n};
      item.position = static_cast<std::int32_t>(s.fed);
      item.block_table = s.blocks;
      item.sample = s.fed + n == s.tokens.size();
      s.fed += n;
      work.items.push_back(item);
    }
    auto result = runner_->execute(work);
    for (std::size_t i = 0; i < slots.size(); ++i)
      if (work.items[i].sample && result.items[i].input_problem.empty())
        sequences_.at(slots[i]).tokens.push_back(result.items[i].token.id);
    return result;
  }

  [[nodiscard]] const ids& tokens(sequence_slot slot) const { return sequences_.at(slot).tokens; }
  [[nodiscard]] const runner_info& info() const { return runner_->info(); }

private:
  static constexpr std::int32_t blocks_each = 20;
  struct sequence {
    ids tokens;
    std::size_t fed = 0;
    ids blocks;
  };
  thread_pool pool_;
  std::unique_ptr<runner> runner_;
  std::map<sequence_slot, sequence> sequences_;
  std::int32_t next_place_ = 0;
};

} // namespace omni::test
