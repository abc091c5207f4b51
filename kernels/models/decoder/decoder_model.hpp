#pragma once

#include "kernels/models/decoder/decoder_stack.hpp"
#include "kernels/models/decoder/decoder_text.hpp"
#include "kernels/models/stage_model.hpp"

#include <memory>
#include <span>

namespace omni {

/// Rows of several sequences, fed at once. Spans are the caller's.
struct decoder_step {
  std::span<const std::int32_t> ids;         // [rows], each in [0, vocab)
  std::span<const rope_position> positions;  // [rows]
  std::span<const sequence_rows> sequences;  // cover all rows
  std::span<const std::int32_t> logit_rows;  // [samples] rows that need logits
  const kv_cache* cache = nullptr;           // written
  tensor logits;                             // [samples, vocab] f32, written
  std::span<const media_row> media;          // rows whose ids only hold a place
  tensor accepted;                           // [media, hidden] f32, written, if the model has an accept_layer
  const tensor_observer* observer = nullptr; // for tests
};

/// What a decoder is loaded from, before any weight is packed.
struct decoder_source {
  std::shared_ptr<const checkpoint> file;
  tensor_names names;
  decoder_config config;
  decoder_text text;
};

/// A text decoder: Llama, Qwen2, Qwen3 or Qwen3-MoE, from GGUF or safetensors, or the decoder inside of a larger model.
/// Immutable.
class decoder_model final : public stage_model, public std::enable_shared_from_this<decoder_model> {
public:
  /// Loads a .gguf file or a Hugging Face folder. Throws `load_error`.
  static std::shared_ptr<const decoder_model> load(const stage_model_spec& spec);
  /// Packs the weights of an opened checkpoint. Throws `load_error`.
  static std::shared_ptr<const decoder_model> load(decoder_source source, bool as_f32);
  ~decoder_model() override;

  [[nodiscard]] std::unique_ptr<runner> make_runner(const runner_options& options, thread_pool& pool) const override;
  [[nodiscard]] stage_ports ports() const override {
    return {payload::kind::tokens, payload::kind::text, payload::kind::text};
  }
  [[nodiscard]] const text::tokenizer* tokenizer() const override { return text_.tokens.get(); }
  [[nodiscard]] const text::chat_template* chat_template() const override { return text_.chat.get(); }
  [[nodiscard]] std::uint64_t fingerprint() const override { return fingerprint_; }

  [[nodiscard]] const decoder_config& config() const { return config_; }
  /// A cache for this model, with blocks of `block_size` tokens.
  [[nodiscard]] kv_shape cache_shape(std::int64_t block_size) const { return stack_.cache_shape(block_size); }
  /// Computes a step. A row's logits do not depend on the other rows of the step, nor on how its sequence was cut into
  /// steps before. Scratch memory is taken in the caller's workspace scope.
  void forward(const decoder_step& step, const op_context& context) const;

private:
  decoder_model(decoder_config config, decoder_weights weights);

  decoder_config config_;
  decoder_weights weights_;
  decoder_stack stack_;
  decoder_text text_; // no template if the checkpoint has none
  std::uint64_t fingerprint_ = 0;
};

/// Whether `spec.dtype` asks for F32 everywhere. Throws `load_error` for what is neither "auto" nor "float32".
bool wants_f32(const stage_model_spec& spec);

} // namespace omni
