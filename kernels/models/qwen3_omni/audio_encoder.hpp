#pragma once

#include "kernels/audio/mel.hpp"
#include "kernels/layers/encoder_block.hpp"
#include "kernels/models/qwen3_omni/model_config.hpp"
#include "kernels/models/weight_reader.hpp"

#include <span>
#include <vector>

namespace omni::qwen3_omni {

/// Sound to rows of the thinker: log-mel frames in chunks through three convolutions over time and mel, then a
/// transformer whose rows see those of their window. Read-only after loading.
class audio_encoder {
public:
  /// Throws `load_error`.
  audio_encoder(const audio_config& config, const checkpoint& file, bool as_f32);
  audio_encoder(const audio_encoder&) = delete;
  audio_encoder& operator=(const audio_encoder&) = delete;

  /// Log-mel features [frames, mels] of a mono clip at 16 kHz.
  [[nodiscard]] std::vector<float> features(std::span<const float> samples) const { return features_.of(samples); }
  /// Rows [rows_of(frames), out] of features [frames, mels]: of a clip, or of some of its windows, which makes the same
  /// rows as all of it. `whole_chunk`: the clip is at least as long as a chunk, so that its last one is filled up with
  /// silence, as in the reference; a shorter clip is convolved as it is. `observer`: for tests.
  [[nodiscard]] std::vector<float> encode(std::span<const float> mel, bool whole_chunk, const tensor_observer* observer,
                                          const op_context& context) const;

private:
  /// Rows of one chunk of `frames` features, filled up with silence to `padded` of them: [rows, hidden].
  [[nodiscard]] tensor convolve(const float* mel, std::int64_t frames, std::int64_t padded,
                                const op_context& context) const;

  audio_config config_;
  encoder_config block_;
  audio::mel_features features_;
  weight_arena arena_;
  linear_weights convs_[3]; // [channels, 3 * 3 * channels before]
  linear_weights conv_out_; // [hidden, mels left * channels]
  const float* positions_;  // [rows of a chunk, hidden]
  std::vector<encoder_weights> blocks_;
  layer_norm_weights last_norm_;
  linear_weights proj1_, proj2_;
};

} // namespace omni::qwen3_omni
