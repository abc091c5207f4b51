#pragma once

#include "kernels/models/decoder/decoder_model.hpp"
#include "kernels/models/stage_model.hpp"
#include "kernels/runtime/kv_cache.hpp"
#include "kernels/runtime/prompt_media.hpp"
#include "kernels/runtime/sampler.hpp"

#include <memory>
#include <unordered_map>
#include <vector>

namespace omni {

/// Steps of an autoregressive stage: prompts in pieces and single tokens of any number of sequences in one batch.
///
/// A slot stays open while its sequence is interrupted: the tokens that were made count for penalties and draws even
/// when they are fed again from position 0, or found in cached blocks.
///
/// A model that speaks through further stages hands on, to whom wants it: `rows` of what stands in the places of media
/// (position and accepted residual stream; see decoder_config), `tokens` of the prompt, and then each generated token
/// when it is fed. So the last one, which never is, does not get there.
class ar_runner final : public runner {
public:
  /// Throws `load_error` when the options do not fit the model.
  /// `reader`: null for a model that reads text only.
  ar_runner(std::shared_ptr<const decoder_model> model, const runner_options& options, thread_pool& pool,
            std::shared_ptr<const media_reader> reader = nullptr);

  [[nodiscard]] const runner_info& info() const override { return info_; }
  void open(sequence_slot slot, const sequence_params& params) override;
  void close(sequence_slot slot) override;
  step_result execute(const batch& work) override;

  /// For tests: sees the inner tensors of every step from now on.
  void observe(tensor_observer observer) { observer_ = std::move(observer); }

private:
  struct open_sequence {
    sampler choose;
    std::unique_ptr<prompt_media> media; // null: none
    std::vector<std::int32_t> hand_on;   // the prompt, if something is handed on
    std::int64_t prompt_tokens = 0;
    std::int64_t handed = 0; // generated tokens that were handed on
  };
  /// The rows of the current step; kept to reuse their memory.
  struct step_input {
    std::vector<std::int32_t> ids;
    std::vector<rope_position> positions;
    std::vector<sequence_rows> sequences;
    std::vector<std::int32_t> logit_rows;
    std::vector<std::size_t> samplers; // index of the item that each of `logit_rows` belongs to
    std::vector<media_row> media;
    std::vector<float*> accepted; // where what is accepted of each of `media` is kept
    void clear();
  };
  void add(const batch_item& item, std::size_t index, open_sequence& sequence, const op_context& context);
  void add_media(const batch_item& item, std::int64_t first_row, prompt_media& media, const op_context& context);
  /// What is left to do with an item that was computed, besides sampling.
  void finish(const batch_item& item, item_result& result);
  void hand_prompt_on(const batch_item& item, const open_sequence& sequence, item_result& result) const;
  void sample(const batch& work, const tensor& logits, step_result& result);

  std::shared_ptr<const decoder_model> model_;
  runner_info info_;
  kv_cache cache_;
  thread_pool::lane lane_;
  workspace scratch_;
  step_input input_;
  std::shared_ptr<const media_reader> reader_;
  std::unordered_map<sequence_slot, open_sequence> sequences_;
  tensor_observer observer_;
};

} // namespace omni
