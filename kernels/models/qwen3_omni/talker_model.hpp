#pragma once

#include "kernels/models/decoder/decoder_stack.hpp"
#include "kernels/models/qwen3_omni/model_config.hpp"
#include "kernels/runtime/sampler.hpp"

#include <functional>
#include <memory>
#include <vector>

namespace omni::qwen3_omni {

/// fc2(silu(fc1 x)): the thinker's width to the talker's.
struct projection_weights {
  linear_weights fc1, fc2;
};

/// The talker's decoder, its two projections and the code predictor. Read-only after loading.
class talker_model {
public:
  /// `as_f32` turns every weight into F32. Throws `load_error`.
  talker_model(const talker_config& config, const token_ids& tokens, std::int64_t thinker_vocab,
               std::int64_t thinker_hidden, const checkpoint& file, bool as_f32);
  talker_model(const talker_model&) = delete;
  talker_model& operator=(const talker_model&) = delete;

  [[nodiscard]] const talker_config& config() const { return config_; }
  [[nodiscard]] const token_ids& tokens() const { return tokens_; }
  [[nodiscard]] std::int64_t hidden() const { return config_.decoder.hidden; }
  [[nodiscard]] std::int64_t thinker_hidden() const { return thinker_hidden_; }
  [[nodiscard]] std::int64_t thinker_vocab() const { return text_embedding_.rows; }
  [[nodiscard]] const decoder_stack& decoder() const { return decoder_; }
  /// A cache for the code predictor of `frames` frames at once.
  [[nodiscard]] kv_cache predictor_cache(std::int64_t frames) const;

  // Rows of the talker's width; scratch memory of the caller's scope.
  /// Projected embeddings of tokens of the thinker, each in [0, thinker_vocab).
  [[nodiscard]] tensor text_rows(std::span<const std::int32_t> ids, const op_context& context) const;
  /// Projected rows [n, thinker_hidden] of the thinker's residual stream.
  [[nodiscard]] tensor media_rows(const tensor& accepted, const op_context& context) const;
  /// Embeddings of codes of the first group, special ones included.
  [[nodiscard]] tensor code_rows(std::span<const std::int32_t> codes, const op_context& context) const;

  /// Logits [rows, vocab] of the first code.
  [[nodiscard]] tensor first_code_logits(const tensor& h, const op_context& context) const;

  /// Chooses one code from logits [codes]: frame and group count from 0.
  using choose_code = std::function<std::int32_t(std::int64_t frame, std::int64_t group, float* logits)>;
  /// What becomes of frames whose first codes are known.
  struct frame_codes {
    std::vector<std::int32_t> codes; // [frames, code_groups]
    tensor embeddings;               // [frames, hidden] sum of the embeddings of a frame's codes
  };
  /// Predicts the other codes of frames: h [frames, hidden] made the `first` codes. All passes over all frames.
  /// `cache` is that of `predictor_cache`, for at least as many frames; nothing in it outlives the call.
  [[nodiscard]] frame_codes complete(const tensor& h, std::span<const std::int32_t> first, const kv_cache& cache,
                                     const choose_code& choose, const tensor_observer* observer,
                                     const op_context& context) const;

private:
  [[nodiscard]] tensor predict(std::int64_t group, const tensor& h, const tensor& latest, const kv_cache& cache,
                               const op_context& context) const;
  [[nodiscard]] tensor project(const projection_weights& w, const tensor& x, const op_context& context) const;

  talker_config config_;
  token_ids tokens_;
  std::int64_t thinker_hidden_;
  weight_arena arena_;           // of what follows, without the two decoders
  packed_weight text_embedding_; // [thinker vocab, thinker hidden]
  projection_weights text_, media_;
  std::vector<packed_weight> code_embeddings_; // [code_groups - 1] of [codes, hidden]: of all groups but the first
  std::vector<packed_weight> code_heads_;      // [code_groups - 1] of [codes, hidden]
  decoder_weights decoder_weights_, predictor_weights_;
  decoder_stack decoder_, predictor_;
};

} // namespace omni::qwen3_omni
