#pragma once

#include "kernels/core/op_context.hpp"
#include "kernels/models/vits/voice_graph.hpp"
#include "kernels/ops/conv_weights.hpp"

#include <cstdint>
#include <span>
#include <vector>

namespace omni::vits {

/// What the text encoder makes of a sentence of n phoneme ids; the pieces lie in the scratch memory of the caller.
struct encoded_text {
  std::int64_t symbols = 0;      // n
  const float* hidden = nullptr; // [n, width]
  const float* prior = nullptr;  // [n, 2 * latent]: means, then logarithms of standard deviations
};

/// The text encoder of VITS: embeddings, transformer layers with relative positions, projection to the prior (Kim et
/// al. 2021). Read-only after loading.
class text_encoder {
public:
  /// `symbols`: phoneme ids are below it. Throws `load_error`.
  text_encoder(const voice_graph& graph, std::int64_t symbols);

  [[nodiscard]] std::int64_t width() const { return width_; }
  [[nodiscard]] std::int64_t latent_width() const { return prior_.out / 2; }

  /// `ids` must be below `symbols`. The result lives as long as the enclosing scope of `context.scratch`.
  [[nodiscard]] encoded_text run(std::span<const std::int64_t> ids, const op_context& context) const;

private:
  struct layer {
    conv_weights q, k, v, o;       // 1x1; q is scaled by 1 / sqrt(head dim)
    std::vector<float> relative_k; // [2 * window + 1, dim]
    std::vector<float> relative_v; // [2 * window + 1, dim]
    norm_weights norm_1;
    conv_weights up, down; // the feed-forward convolutions
    std::int64_t up_before = 0, down_before = 0;
    norm_weights norm_2;
  };
  struct activations;

  layer load_layer(const voice_graph& graph, std::int64_t index);
  void attend(const layer& l, const activations& a, const op_context& context) const;
  void feed_forward(const layer& l, const activations& a, const op_context& context) const;

  std::int64_t width_ = 0;
  std::int64_t head_width_ = 0;
  std::int64_t window_ = 0;
  std::vector<float> embeddings_; // [symbols, width], scaled by sqrt(width)
  std::vector<layer> layers_;
  conv_weights prior_; // 1x1: width -> 2 * latent
};

} // namespace omni::vits
