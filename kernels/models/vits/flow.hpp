#pragma once

#include "kernels/layers/conv_stack.hpp"
#include "kernels/models/vits/speaker.hpp"
#include "kernels/models/vits/voice_graph.hpp"

#include <deque>
#include <span>
#include <string>
#include <vector>

namespace omni::vits {

/// The normalising flow of VITS run from the prior to the vocoder's frames: affine couplings (mean only) around WaveNet
/// blocks (Kim et al. 2021). Read-only after loading.
class latent_flow {
public:
  /// `speaker_width` is 0 for a voice of one speaker. Throws `load_error`.
  latent_flow(const voice_graph& graph, std::int64_t width, std::int64_t speaker_width);
  latent_flow(const latent_flow&) = delete;
  latent_flow& operator=(const latent_flow&) = delete;

  [[nodiscard]] std::int64_t width() const { return width_; }

  /// What the layers add for a speaker, one bias for each part of the stack, mostly empty; empty for a voice of one.
  [[nodiscard]] std::vector<std::vector<float>> speaker_biases(std::span<const float> speaker) const;

  class stream;

private:
  /// Adds one coupling: `moved` less what the block makes of `fixed`. Reversed: the frame is flipped around it.
  track_id add_coupling(const voice_graph& graph, const std::string& module, track_id fixed, track_id moved,
                        bool reversed, std::int64_t speaker_width);
  /// Adds the layers of a WaveNet block; returns the sum of its skip connections.
  track_id add_wavenet(const voice_graph& graph, const std::string& module, track_id hidden,
                       std::int64_t speaker_width);
  const conv_weights* keep(conv_weights w);

  struct speaker_slice {
    std::size_t part; // of the stack
    const conv_weights* conv;
    std::size_t layer;  // index into speakers_
    std::int64_t first; // output of that layer
  };

  std::int64_t width_;
  std::deque<conv_weights> convs_; // their addresses are held by the stack
  std::vector<speaker_layer> speakers_;
  std::vector<speaker_slice> slices_;
  conv_stack stack_;
  track_id low_ = no_track;  // channels [0, width / 2) of the input
  track_id high_ = no_track; // the others
  track_id low_out_ = no_track;
  track_id high_out_ = no_track;
};

/// The flow of one sentence. What it gives out does not depend on how the frames are cut into calls.
class latent_flow::stream {
public:
  /// `biases` are the speaker's; they and the model must outlive the stream.
  stream(const latent_flow& model, const std::vector<std::vector<float>>& biases);

  /// Takes the next `count` frames of the prior [count, width]; `last` ends the sentence. Appends the frames that are
  /// certain now.
  void run(const float* frames, std::int64_t count, bool last, std::vector<float>& out, const op_context& context);

private:
  void take_frames(std::vector<float>& out);

  const latent_flow& model_;
  conv_stack::stream layers_;
  std::vector<const float*> biases_;
  std::int64_t done_ = 0;
};

} // namespace omni::vits
