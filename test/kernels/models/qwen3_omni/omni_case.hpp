#pragma once

#include "kernels/models/qwen3_omni/model_config.hpp"
#include "kernels/runtime/batch.hpp"
#include "kernels/weights/convert.hpp"
#include "kernels/weights/safetensors_file.hpp"
#include "test/support/golden.hpp"
#include "test/support/golden_case.hpp"

#include <gtest/gtest.h>

namespace omni::qwen3_omni {

using test::golden_case;
using floats = std::vector<float>;

// golden/README.md, "Tolerances"
constexpr double layer_bound = 1e-4;
constexpr double logits_bound = 2e-4;

inline std::filesystem::path checkpoint_folder(const std::string& name = "model") {
  return test::golden_dir() / "qwen3_omni" / name;
}

/// The tiny checkpoint, opened once.
struct opened_model {
  model_config config;
  std::shared_ptr<const checkpoint> file;
};
inline opened_model open_model(const std::string& name = "model") {
  return {load_config(checkpoint_folder(name)), safetensors_file::open(checkpoint_folder(name))};
}

inline void expect_close(const floats& found, const floats& expected, const std::string& what,
                         double bound = layer_bound) {
  ASSERT_EQ(found.size(), expected.size()) << what;
  EXPECT_LE(test::relative_max(found.data(), expected.data(), static_cast<std::int64_t>(expected.size())), bound)
      << what;
}

/// The last values of `found` against all of `expected`.
inline void expect_tail(const floats& found, const floats& expected, const std::string& what,
                        double bound = logits_bound) {
  ASSERT_GE(found.size(), expected.size()) << what;
  const float* const tail = found.data() + found.size() - expected.size();
  EXPECT_LE(test::absolute_max(tail, expected.data(), static_cast<std::int64_t>(expected.size())), bound) << what;
}

/// Values that a case keeps as F32 or, where they are whole, as I32.
inline floats numbers(const golden_case& golden, const std::string& name) {
  floats values(static_cast<std::size_t>(golden.extents(name).values()));
  read_f32(*golden.tensors().find(name), values);
  return values;
}

/// [3, n] as the golden data keeps positions.
inline std::vector<rope_position> positions_of(const floats& streams) {
  const std::size_t n = streams.size() / 3;
  std::vector<rope_position> positions;
  for (std::size_t i = 0; i < n; ++i) positions.emplace_back(streams[i], streams[n + i], streams[2 * n + i]);
  return positions;
}

/// How the talker spoke in a case.
inline sequence_params talker_params(const golden_case& golden) {
  const auto& options = golden.json().at("options");
  sequence_params params;
  params.sampling.temperature = 0.0F;
  params.sampling.repetition_penalty = options.at("talker_repetition_penalty").get<float>();
  params.sampling.max_tokens = options.at("talker_max_new_tokens").get<std::int32_t>();
  params.voice.speaker = options.at("speaker").get<std::string>();
  return params;
}

} // namespace omni::qwen3_omni
