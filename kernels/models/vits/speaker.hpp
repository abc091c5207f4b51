#pragma once

#include "kernels/models/vits/voice_graph.hpp"

#include <optional>
#include <span>
#include <vector>

namespace omni::vits {

/// The vectors of a voice's speakers; a voice of a single speaker has none.
class speaker_table {
public:
  speaker_table() = default;
  /// Throws `load_error` when the graph does not have a vector for each of `speakers` speakers.
  speaker_table(const voice_graph& graph, std::int64_t speakers);

  [[nodiscard]] bool empty() const { return width_ == 0; }
  [[nodiscard]] std::int64_t width() const { return width_; }
  /// The vector of a speaker; empty if the voice has only one.
  [[nodiscard]] std::span<const float> row(std::int64_t speaker) const;

private:
  std::int64_t width_ = 0;
  std::vector<float> rows_; // [speakers, width]
};

/// A 1x1 convolution of the speaker's vector whose result is added to the output of other convolutions. The vector is
/// the same at all times, so for one speaker it is a bias.
class speaker_layer {
public:
  speaker_layer() = default;
  /// Reads `module` with `out` outputs if the voice has speakers.
  speaker_layer(const voice_graph& graph, const std::string& module, std::int64_t out, std::int64_t width);

  /// This layer's outputs; empty for a voice of one speaker.
  [[nodiscard]] std::vector<float> outputs(std::span<const float> speaker) const;
  /// The bias of `w` with this layer's outputs `first` .. `first + w.out - 1` for `speaker` added, filled up to whole
  /// panels; empty if there is nothing to add.
  [[nodiscard]] std::vector<float> bias_of(const conv_weights& w, std::span<const float> speaker,
                                           std::int64_t first = 0) const;

private:
  std::int64_t width_ = 0;
  std::vector<float> weight_; // [out, width]
  std::vector<float> bias_;   // [out]
};

} // namespace omni::vits
