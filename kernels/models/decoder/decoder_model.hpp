#pragma once

#include "kernels/layers/rope_angles.hpp"
#include "kernels/models/decoder/decoder_config.hpp"
#include "kernels/models/decoder/decoder_weights.hpp"
#include "kernels/models/stage_model.hpp"
#include "kernels/runtime/kv_cache.hpp"

#include <memory>
#include <span>

namespace omni {

/// Rows of several sequences, fed at once. Spans are the caller's.
struct decoder_step {
  std::span<const std::int32_t> ids;         // [rows], each in [0, vocab)
  std::span<const std::int32_t> positions;   // [rows]
  std::span<const sequence_rows> sequences;  // cover all rows
  std::span<const std::int32_t> logit_rows;  // [samples] rows that need logits
  const kv_cache* cache = nullptr;           // written
  tensor logits;                             // [samples, vocab] f32, written
  const tensor_observer* observer = nullptr; // for tests
};

/// A text decoder: Llama, Qwen2, Qwen3 or Qwen3-MoE, from GGUF or safetensors. Immutable.
class decoder_model final : public stage_model, public std::enable_shared_from_this<decoder_model> {
public:
  /// Loads a .gguf file or a Hugging Face folder. Throws `load_error`.
  static std::shared_ptr<const decoder_model> load(const stage_model_spec& spec);
  ~decoder_model() override;

  [[nodiscard]] std::unique_ptr<runner> make_runner(const runner_options& options, thread_pool& pool) const override;
  [[nodiscard]] const text::tokenizer* tokenizer() const override { return tokenizer_.get(); }
  [[nodiscard]] const text::chat_template* chat_template() const override { return template_.get(); }
  [[nodiscard]] std::uint64_t fingerprint() const override { return fingerprint_; }

  [[nodiscard]] const decoder_config& config() const { return config_; }
  /// A cache for this model, with blocks of `block_size` tokens.
  [[nodiscard]] kv_shape cache_shape(std::int64_t block_size) const;
  /// Computes a step. A row's logits do not depend on the other rows of the step, nor on how its sequence was cut into
  /// steps before. Scratch memory is taken in the caller's workspace scope.
  void forward(const decoder_step& step, const op_context& context) const;

private:
  decoder_model(decoder_config config, decoder_weights weights, bool f32_cache);

  decoder_config config_;
  decoder_weights weights_;
  rope_angles rope_;
  dtype cache_type_;
  std::unique_ptr<const text::tokenizer> tokenizer_;
  std::unique_ptr<const text::chat_template> template_; // null if the checkpoint has none
  std::uint64_t fingerprint_ = 0;
};

} // namespace omni
