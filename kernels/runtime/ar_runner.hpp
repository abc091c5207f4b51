#pragma once

#include "kernels/models/decoder/decoder_model.hpp"
#include "kernels/models/stage_model.hpp"
#include "kernels/runtime/kv_cache.hpp"
#include "kernels/runtime/sampler.hpp"

#include <memory>
#include <unordered_map>
#include <vector>

namespace omni {

/// Steps of an autoregressive stage: prompts in pieces and single tokens of any number of sequences in one batch.
///
/// A slot stays open while its sequence is interrupted: the tokens that were made count for penalties and draws even
/// when they are fed again from position 0, or found in cached blocks.
class ar_runner final : public runner {
public:
  /// Throws `load_error` when the options do not fit the model.
  ar_runner(std::shared_ptr<const decoder_model> model, const runner_options& options, thread_pool& pool);

  [[nodiscard]] const runner_info& info() const override { return info_; }
  void open(sequence_slot slot, const sequence_params& params) override;
  void close(sequence_slot slot) override;
  step_result execute(const batch& work) override;

  /// For tests: sees the inner tensors of every step from now on.
  void observe(tensor_observer observer) { observer_ = std::move(observer); }

private:
  /// The rows of the current step; kept to reuse their memory.
  struct step_input {
    std::vector<std::int32_t> ids;
    std::vector<rope_position> positions;
    std::vector<sequence_rows> sequences;
    std::vector<std::int32_t> logit_rows;
    std::vector<std::size_t> samplers; // index of the item that each of `logit_rows` belongs to
    void clear();
  };
  void add(const batch_item& item, std::size_t index);
  void sample(const batch& work, const tensor& logits, step_result& result);

  std::shared_ptr<const decoder_model> model_;
  runner_info info_;
  kv_cache cache_;
  thread_pool::lane lane_;
  workspace scratch_;
  step_input input_;
  std::unordered_map<sequence_slot, sampler> samplers_; // open sequences
  tensor_observer observer_;
};

} // namespace omni
