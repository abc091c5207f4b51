#pragma once

#include "kernels/models/vits/noise.hpp"
#include "kernels/models/vits/speaker.hpp"
#include "kernels/models/vits/text_encoder.hpp"
#include "kernels/models/vits/voice_graph.hpp"

#include <array>
#include <memory>
#include <span>
#include <vector>

namespace omni::vits {

/// Says how long each symbol of a sentence lasts.
class duration_predictor {
public:
  virtual ~duration_predictor() = default;
  /// Writes the logarithms of durations, in frames at speed 1, of all symbols. `speaker` is empty for a voice of one;
  /// `randomness` scales the noise (0: none).
  virtual void run(const encoded_text& text, std::span<const float> speaker, const noise& source, float randomness,
                   std::span<float> log_durations, const op_context& context) const = 0;

  /// The predictor of the voice, whichever kind it is. Throws `load_error`.
  static std::unique_ptr<duration_predictor> load(const voice_graph& graph, std::int64_t width,
                                                  std::int64_t speaker_width);
};

/// A stack of dilated depthwise-separable convolutions, each added to its input: DDSConv of VITS.
class separable_stack {
public:
  separable_stack() = default;
  separable_stack(const voice_graph& graph, const std::string& module, std::int64_t channels);

  /// Rows of zeros that `x` needs on both sides.
  [[nodiscard]] std::int64_t reach() const { return reach_; }
  /// x [rows, channels] becomes the result.
  void run(float* x, std::int64_t rows, const op_context& context) const;

private:
  struct layer {
    depthwise_weights depthwise;
    std::int64_t before = 0;
    norm_weights norm_1;
    conv_weights pointwise;
    norm_weights norm_2;
  };
  std::int64_t channels_ = 0;
  std::int64_t reach_ = 0;
  std::vector<layer> layers_;
};

/// Durations as a sample of a normalising flow (Kim et al. 2021, appendix B.1.2), run from noise to durations.
class stochastic_durations final : public duration_predictor {
public:
  stochastic_durations(const voice_graph& graph, std::int64_t width, std::int64_t speaker_width);
  void run(const encoded_text& text, std::span<const float> speaker, const noise& source, float randomness,
           std::span<float> log_durations, const op_context& context) const override;

private:
  struct coupling {
    conv_weights pre; // 1 -> channels
    separable_stack stack;
    conv_weights project; // channels -> 3 * bins - 1
  };
  void couple(const coupling& flow, const float* condition, const float* fixed, std::span<float> moved,
              const op_context& context) const;
  void read_affine(const voice_graph& graph);

  conv_weights pre_;
  speaker_layer speaker_;
  separable_stack stack_;
  conv_weights project_;
  std::vector<coupling> flows_; // in the order in which they are run
  float shift_ = 0.0F;          // the last flow, of the channel that is the result: (z - shift) * scale
  float scale_ = 1.0F;
};

/// Durations as a plain regression: the predictor of older voices.
class plain_durations final : public duration_predictor {
public:
  plain_durations(const voice_graph& graph, std::int64_t width, std::int64_t speaker_width);
  void run(const encoded_text& text, std::span<const float> speaker, const noise& source, float randomness,
           std::span<float> log_durations, const op_context& context) const override;

private:
  speaker_layer speaker_;
  std::array<conv_weights, 2> convs_;
  std::array<norm_weights, 2> norms_;
  conv_weights project_;
};

} // namespace omni::vits
