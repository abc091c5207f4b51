#pragma once

#include "kernels/models/decoder/decoder_config.hpp"
#include "kernels/models/stage_cost.hpp"

namespace omni {

/// A decoder by what becomes of its weights in a step. Formulas: a token meets every dense weight and its share of the
/// experts; a batch of B tokens that choose `top` of E experts evenly meets E * (1 - (1 - top / E)^B) of them.
struct decoder_cost {
  weight_amount embedding; // one row is read per token
  weight_amount head;      // the embedding again, if tied
  weight_amount dense;     // attention, norms, routers, dense and shared MLPs of all layers
  weight_amount experts;   // of all layers
  std::int64_t expert_count = 0;
  std::int64_t top = 0;
  bool tied = false;
  std::int64_t kv_token_values = 0; // keys and values of a token, over all layers
  std::int64_t attention_width = 0; // multiplications of a token with one key and value, over all layers

  /// All weights, tied ones once.
  [[nodiscard]] weight_amount held() const;
  /// What a step over so many tokens reads, rows of the embedding apart.
  [[nodiscard]] double bytes_read(double tokens) const;
  /// Multiplications and additions for one token, attention over its context apart.
  [[nodiscard]] double flops_per_token() const;
  /// Share of the experts that some token of so many chooses.
  [[nodiscard]] double experts_met(double tokens) const;
};

/// From a configuration; each value takes so many bytes. `vocab` 0: no embedding and no head.
decoder_cost cost_of(const decoder_config& config, double value_bytes);

/// From the tensors of a GGUF file, as they are stored or turned into F32.
decoder_cost cost_of(const decoder_config& config, const gguf_file& file, bool as_f32);

/// Adds the steps of an autoregressive decoder: decoding at one and at most sequences, also with their keys and values,
/// and a prefill.
void add_decoder_steps(const decoder_cost& cost, const cost_question& question, double kv_value_bytes, stage_cost& to);

/// The cost of a text stage. Throws `load_error`.
stage_cost cost_of_decoder_stage(const stage_model_spec& spec, const cost_question& question);

} // namespace omni
