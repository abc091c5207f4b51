#pragma once

#include "kernels/models/decoder/decoder_cost.hpp"
#include "kernels/models/qwen3_omni/model_config.hpp"

namespace omni::qwen3_omni {

// Values of the parts beside the decoders, and multiplications and additions. Sources: the shapes and formulas of the
// architecture (audio_encoder, vision_encoder, talker_model, vocoder); attention is left out where it is not named.

struct encoder_cost {
  double values = 0;
  double flops = 0; // of a unit: a second of sound, a picture
  double attention_flops = 0;
};
/// A second of sound.
encoder_cost cost_of(const audio_config& config);
/// A picture of patches_high x patches_wide patches.
encoder_cost cost_of(const vision_config& config, std::int64_t patches_high, std::int64_t patches_wide);

/// The passes of the code predictor for a frame, each reading all layers and a head of its own.
struct predictor_cost {
  double values = 0;      // layers, embeddings and heads
  double read_values = 0; // in all passes of a frame, whatever the number of streams
  double flops = 0;       // of a frame
};
predictor_cost cost_of_predictor(const talker_config& config);

struct vocoder_cost {
  double values = 0;
  double read_values = 0;        // in a call: all but the table of codes
  double flops = 0;              // of a frame
  std::int64_t state_values = 0; // of a stream: keys and values of the window, inputs that convolutions still need
};
vocoder_cost cost_of(const code2wav_config& config);

/// The cost of a stage of a checkpoint folder. Throws `load_error`.
stage_cost cost_of_thinker(const stage_model_spec& spec, const cost_question& question);
stage_cost cost_of_talker(const stage_model_spec& spec, const cost_question& question);
stage_cost cost_of_code2wav(const stage_model_spec& spec, const cost_question& question);

} // namespace omni::qwen3_omni
