#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace omni::test {

/// A Piper voice with random weights, written the way exporters write them. Small enough for any test, with every part
/// of the architecture that voices have.
struct tiny_voice {
  std::int64_t channels = 16; // of the text encoder and the latent
  std::int64_t speakers = 1;
  bool paired_blocks = false;     // ResBlock1, as in high quality
  bool plain_durations = false;   // the predictor of old voices
  bool anonymous_weights = true;  // weights of normalised convolutions have no names of their own
  bool misnamed_embedding = true; // the phoneme table is called "sid"
  bool folded_scale = true;       // the last duration flow's scale is stored as its exponential
  // Damage, by name of an initializer.
  std::set<std::string> left_out;
  std::map<std::string, std::vector<std::int64_t>> reshaped;

  /// The ONNX file.
  [[nodiscard]] std::string onnx() const;
  /// The JSON beside it: phonemes are characters.
  [[nodiscard]] std::string json() const;
  /// Writes both into `folder`; returns the path of the ONNX file.
  std::filesystem::path write(const std::filesystem::path& folder) const;
};

} // namespace omni::test
