#pragma once

#include "kernels/models/qwen3_omni/block_pool.hpp"
#include "kernels/models/qwen3_omni/talker_sequence.hpp"
#include "kernels/models/stage_model.hpp"

#include <map>
#include <memory>
#include <vector>

namespace omni::qwen3_omni {

/// Steps of the talker: the prompts of some sequences and the next frame of others in one pass over the weights, then
/// the other codes of all frames together. It takes a stream (`rows` of media, `tokens`) and gives one: `rows` of I32,
/// [1, code_groups] for each frame.
///
/// The KV cache is shared; when it is full, the youngest sequence that is younger, or that waits for the thinker, gives
/// its blocks up and is computed anew later. So the oldest that can go on always does.
class talker_runner final : public runner {
public:
  /// Throws `load_error` when the options do not fit the model.
  talker_runner(std::shared_ptr<const talker_model> model, double frames_per_second, const runner_options& options,
                thread_pool& pool);

  [[nodiscard]] const runner_info& info() const override { return info_; }
  void open(sequence_slot slot, const sequence_params& params) override;
  void close(sequence_slot slot) override;
  step_result execute(const batch& work) override;

  /// For tests: sees inner tensors of every step from now on.
  void observe(tensor_observer observer) { observer_ = std::move(observer); }

private:
  /// A sequence's share of a step.
  struct share {
    talker_sequence* who = nullptr;
    std::int64_t rows = 0;
    item_result* result = nullptr;
  };
  /// Takes in what arrived, and makes the rows that can be made now.
  void hear(const batch& work, step_result& result, const op_context& context);
  /// What goes on in this step, and how many rows of each are fed.
  std::vector<share> plan(const batch& work, step_result& result);
  /// Gives the sequences of the step whose frames wait for it the text that they are due.
  void add_texts(const batch& work, const step_result& result, const op_context& context);
  /// Gets the blocks for `rows` more rows of `one`, from others if need be; false if it must wait.
  bool make_room(talker_sequence& one, std::int64_t rows, const std::vector<share>& planned, step_result& result);
  /// Feeds the shares; returns the last norm's output [those who want a code, hidden].
  tensor feed(const std::vector<share>& shares, const op_context& context);
  void speak(const std::vector<share>& speakers, const tensor& h, const op_context& context);
  void show(const char* name, const tensor& value) const;

  std::shared_ptr<const talker_model> model_;
  runner_info info_;
  std::int64_t most_rows_;     // of a sequence
  std::int64_t rows_per_step_; // of all sequences
  kv_cache cache_;
  block_pool blocks_;
  kv_cache predictor_cache_;
  thread_pool::lane lane_;
  workspace scratch_;
  std::map<sequence_slot, std::unique_ptr<talker_sequence>> sequences_;
  std::int64_t next_age_ = 0;
  tensor_observer observer_;
};

} // namespace omni::qwen3_omni
