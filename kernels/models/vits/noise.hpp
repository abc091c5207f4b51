#pragma once

#include <cstdint>

namespace omni::vits {

/// Normal noise that is a function of where it is used, not of when: the same request with the same seed sounds the
/// same at any chunk size, batch and number of threads. Philox4x32-10 (Salmon et al. 2011) keyed by seed, counted by
/// purpose, sentence and index; Box-Muller makes two values of two words.
class noise {
public:
  enum class purpose : std::uint32_t { durations = 0, prior = 1 };

  noise(std::uint64_t seed, purpose what, std::uint32_t sentence) : seed_(seed), what_(what), sentence_(sentence) {}

  /// Values `first` .. `first + count - 1` of the sequence, each N(0, 1).
  void fill(std::uint64_t first, std::int64_t count, float* out) const;

private:
  std::uint64_t seed_;
  purpose what_;
  std::uint32_t sentence_;
};

} // namespace omni::vits
