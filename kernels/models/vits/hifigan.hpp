#pragma once

#include "kernels/layers/conv_stack.hpp"
#include "kernels/layers/observer.hpp"
#include "kernels/models/vits/speaker.hpp"
#include "kernels/models/vits/voice_graph.hpp"

#include <deque>
#include <string>
#include <vector>

namespace omni::vits {

/// Samples that the decoder of a voice makes of one frame. Throws `load_error`.
std::int64_t samples_per_frame(const voice_graph& graph);

/// HiFi-GAN: vocoder frames to samples (Kong et al. 2020, as VITS uses it). Read-only after loading.
class hifigan {
public:
  /// Reads the architecture off the weights; `speaker_width` is 0 for a voice of one speaker. Throws `load_error`.
  hifigan(const voice_graph& graph, std::int64_t speaker_width);
  hifigan(const hifigan&) = delete;
  hifigan& operator=(const hifigan&) = delete;

  [[nodiscard]] std::int64_t frame_width() const { return convs_.front().in; }
  [[nodiscard]] std::int64_t samples_per_frame() const { return samples_per_frame_; }
  /// Additions and multiplications that one frame costs.
  [[nodiscard]] std::int64_t flops_per_frame() const { return flops_per_frame_; }

  /// What the first convolution adds for that speaker; empty for a voice of one.
  [[nodiscard]] std::vector<float> speaker_bias(std::span<const float> speaker) const {
    return speaker_.bias_of(convs_.front(), speaker);
  }

  class stream;

private:
  /// A value of the residual path: itself, and what the next convolution reads.
  struct features {
    track_id raw = no_track;
    track_id activated = no_track;
  };
  const conv_weights* keep(conv_weights w);
  /// Adds the upsampling layer of a stage; returns its channels.
  std::int64_t add_upsampling(const voice_graph& graph, const std::string& module, track_id from, features& to);
  /// The convolutions of one residual block, first to last, over `from`.
  std::vector<stack_conv> residual_block(const voice_graph& graph, const std::string& module, features from,
                                         std::int64_t channels);
  void add_stage(const voice_graph& graph, std::int64_t stage, std::int64_t blocks, float slope);
  void add_output(const voice_graph& graph);

  std::deque<conv_weights> convs_; // their addresses are held by the stack
  conv_to_mono_weights output_;
  std::int64_t output_before_ = 0;
  conv_stack stack_;
  track_id frames_ = no_track;
  std::vector<track_id> inner_;   // what an observer sees: first convolution, activated, and upsampled features
  track_id activated_ = no_track; // what the next stage or the output layer reads
  std::int64_t samples_per_frame_ = 1;
  std::int64_t flops_per_frame_ = 0;
  speaker_layer speaker_;
};

/// The decoding of one sentence. What it gives out does not depend on how the frames are cut into calls.
class hifigan::stream {
public:
  /// `bias` is the speaker's (`speaker_bias`); it and the model must outlive the stream.
  stream(const hifigan& model, const std::vector<float>& bias);

  /// Takes the next `count` frames [count, frame_width]; `last` ends the sentence. Appends the samples that are certain
  /// now, in all count * samples_per_frame of the sentence.
  void decode(const float* frames, std::int64_t count, bool last, std::vector<float>& samples,
              const op_context& context);
  /// Shows `observer` the rows of "conv_pre" (after its leaky_relu) and "up0", "up1", ... as they are made. The stream
  /// must stay where it is.
  void observe(tensor_observer observer);

private:
  void decode_piece(const float* frames, std::int64_t count, bool last, std::vector<float>& samples,
                    const op_context& context);
  void take_samples(std::vector<float>& samples, const op_context& context);

  const hifigan& model_;
  conv_stack::stream layers_;
  std::vector<const float*> biases_;
  std::int64_t samples_done_ = 0;
};

} // namespace omni::vits
