#pragma once

#include "kernels/core/tensor.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace omni {

enum class rope_kind : std::uint8_t { plain, linear, dynamic, llama3, yarn };

/// Rotary positions of a model, as its configuration says.
struct rope_config {
  rope_kind kind = rope_kind::plain;
  std::int64_t dims = 0; // of a head that turn; even
  double theta = 10000.0;
  double factor = 1.0;
  std::int64_t original_context = 0; // llama3, yarn: positions before scaling; dynamic: where scaling begins
  double low_frequency_factor = 1.0; // llama3
  double high_frequency_factor = 4.0;
  double beta_fast = 32.0; // yarn
  double beta_slow = 1.0;
  bool whole_bounds = true;               // yarn: the ramp's ends are rounded outwards
  std::optional<double> attention_factor; // yarn: of cos and sin; otherwise 0.1 ln(factor) + 1
  std::vector<float> divisors;            // [dims / 2] of each frequency, or empty (GGUF rope_freqs)
  /// Pairs that turn by time, height and width, which sum to dims / 2; zeros: all by time. They are interleaved: while
  /// a part has pairs left, pair j turns by height if j % 3 = 1 and by width if j % 3 = 2 (Qwen3-Omni).
  std::array<std::int64_t, 3> sections{};
};

/// Where a token stands. Text goes on in all three at once; the parts of a picture share their time.
struct rope_position {
  float time = 0.0F, height = 0.0F, width = 0.0F;

  rope_position() = default;
  rope_position(std::int32_t text) // NOLINT(google-explicit-constructor): a number is a place in a text
      : time(static_cast<float>(text)), height(time), width(time) {}
  rope_position(float t, float h, float w) : time(t), height(h), width(w) {}
  friend bool operator==(const rope_position&, const rope_position&) = default;
};

/// Frequencies in radians per position, [dims / 2]. `length` matters to `dynamic` only: tokens of the sequence.
/// Formulas: transformers `modeling_rope_utils.py`.
std::vector<float> rope_frequencies(const rope_config& config, std::int64_t length);

/// The factor of cos and sin.
float rope_amplitude(const rope_config& config);

/// Cosines and sines of positions. A position's angles depend on it alone: under `dynamic`, token p is turned as in a
/// sequence of p + 1 tokens, which is what decoding token by token does.
class rope_angles {
public:
  explicit rope_angles(rope_config config);
  /// cos, sin: [positions, dims / 2] f32, written.
  void fill(std::span<const rope_position> positions, const tensor& cos, const tensor& sin) const;
  [[nodiscard]] std::int64_t dims() const { return config_.dims; }

private:
  rope_config config_;
  std::vector<float> frequencies_;
  std::vector<float rope_position::*> axes_; // [dims / 2] what each pair turns by
  float amplitude_;
};

} // namespace omni
