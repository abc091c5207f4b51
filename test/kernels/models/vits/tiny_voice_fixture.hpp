#pragma once

#include "kernels/models/vits/hifigan.hpp"
#include "kernels/models/vits/talker.hpp"
#include "test/support/compute_fixture.hpp"
#include "test/support/tiny_voice.hpp"

#include <gtest/gtest.h>
#include <memory>
#include <random>
#include <string>
#include <vector>

namespace omni::test {

inline std::shared_ptr<const onnx_file> parse_onnx(const std::string& text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  auto bytes = std::make_shared<std::vector<std::byte>>(first, first + text.size());
  return onnx_file::parse(*bytes, "tiny.onnx", bytes);
}

inline vits::voice_graph graph_of(const tiny_voice& voice) { return vits::voice_graph(parse_onnx(voice.onnx())); }

/// A tiny voice whose weights are named after their modules, as `naive_vits` reads them.
inline tiny_voice named_voice() {
  tiny_voice voice;
  voice.anonymous_weights = false;
  voice.misnamed_embedding = false;
  return voice;
}

/// A test with threads and scratch memory.
class computing : public ::testing::Test {
protected:
  compute_fixture on_;
  const op_context& context_ = on_.context;
};

/// Sizes of the pieces that `total` is cut into: from 0 to `most`.
inline std::vector<std::int64_t> random_pieces(std::int64_t total, std::int64_t most, std::uint32_t seed) {
  std::mt19937 generator(seed);
  std::vector<std::int64_t> pieces;
  while (total > 0) {
    const auto piece = std::min<std::int64_t>(total, generator() % static_cast<std::uint32_t>(most + 1));
    pieces.push_back(piece);
    total -= piece;
  }
  return pieces;
}

} // namespace omni::test
