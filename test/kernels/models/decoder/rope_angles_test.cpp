#include "kernels/layers/rope_angles.hpp"

#include "kernels/models/decoder/decoder_config.hpp"
#include "test/support/golden.hpp"
#include "test/support/golden_case.hpp"

#include <cmath>
#include <gtest/gtest.h>

namespace omni {
namespace {

/// The rope of a config.json that has `about` as its rope_scaling, or as rope_parameters.
rope_config parse_rope(const nlohmann::json& about, bool newer) {
  nlohmann::json config = {{"model_type", "llama"},
                           {"vocab_size", 8},
                           {"hidden_size", about.at("head_dim")},
                           {"head_dim", about.at("head_dim")},
                           {"intermediate_size", 8},
                           {"num_hidden_layers", 1},
                           {"num_attention_heads", 1},
                           {"max_position_embeddings", about.at("max_position_embeddings")}};
  config[newer ? "rope_parameters" : "rope_scaling"] = about;
  if (!newer) config["rope_theta"] = about.at("rope_theta");
  return decoder_config_from(hf_config::parse(config.dump(), "config.json"), std::nullopt).rope;
}

TEST(golden_rope, frequencies_and_amplitudes_are_those_of_the_reference) {
  const test::golden_case golden(test::golden_dir() / "text" / "rope_tables.json");
  for (const auto& [name, about] : golden.json().at("kinds").items()) {
    const auto expected = golden.f32(name);
    for (const bool newer : {false, true}) {
      SCOPED_TRACE(name);
      const auto rope = parse_rope(about, newer);
      const auto found = rope_frequencies(rope, about.at("sequence_length"));
      ASSERT_EQ(found.size(), expected.size());
      for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i] / expected[i], 1.0F, 1e-6F) << i;
      EXPECT_NEAR(rope_amplitude(rope), about.at("cos_sin_factor").get<double>(), 1e-6);
    }
  }
}

rope_config config_of(rope_kind kind, std::int64_t dims, double factor, std::int64_t original_context) {
  rope_config config;
  config.kind = kind;
  config.dims = dims;
  config.factor = factor;
  config.original_context = original_context;
  return config;
}

TEST(rope_angles, turn_position_times_frequency) {
  const rope_config config = config_of(rope_kind::yarn, 4, 4.0, 64);
  const rope_angles angles(config);
  const auto frequencies = rope_frequencies(config, 0);
  std::vector<float> cos(4), sin(4);
  angles.fill(std::vector<rope_position>{0, 1000}, tensor(cos.data(), {2, 2}), tensor(sin.data(), {2, 2}));
  const float amplitude = 0.1F * std::log(4.0F) + 1.0F;
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_FLOAT_EQ(cos[i], amplitude);
    EXPECT_EQ(sin[i], 0.0F);
    EXPECT_NEAR(cos[2 + i], amplitude * std::cos(1000.0F * frequencies[i]), 1e-6F);
    EXPECT_NEAR(sin[2 + i], amplitude * std::sin(1000.0F * frequencies[i]), 1e-6F);
  }
}

TEST(rope_angles, stretch_by_the_position_alone_when_dynamic) {
  const rope_config config = config_of(rope_kind::dynamic, 8, 2.0, 100);
  const rope_angles angles(config);
  std::vector<float> cos(8), sin(8), alone_cos(4), alone_sin(4);
  angles.fill(std::vector<rope_position>{99, 300}, tensor(cos.data(), {2, 4}), tensor(sin.data(), {2, 4}));
  angles.fill(std::vector<rope_position>{300}, tensor(alone_cos.data(), {1, 4}), tensor(alone_sin.data(), {1, 4}));
  const auto near = rope_frequencies(config, 100), far = rope_frequencies(config, 301);
  EXPECT_LT(far[3], near[3]);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_NEAR(cos[i], std::cos(99.0F * near[i]), 1e-6F);
    EXPECT_NEAR(cos[4 + i], std::cos(300.0F * far[i]), 1e-6F);
    EXPECT_EQ(cos[4 + i], alone_cos[i]);
  }
}

TEST(rope_angles, of_sections_turn_pairs_by_time_height_and_width_in_turn) {
  rope_config config = config_of(rope_kind::plain, 16, 1.0, 0);
  const rope_angles plain(config);
  config.sections = {4, 2, 2};
  const rope_angles mixed(config);
  std::vector<float> cos(8), sin(8), expected_cos(24), expected_sin(24);
  mixed.fill(std::vector<rope_position>{{3.5F, 40.0F, 500.0F}}, tensor(cos.data(), {1, 8}), tensor(sin.data(), {1, 8}));
  plain.fill(std::vector<rope_position>{{3.5F, 0.0F, 0.0F}, {40.0F, 0.0F, 0.0F}, {500.0F, 0.0F, 0.0F}},
             tensor(expected_cos.data(), {3, 8}), tensor(expected_sin.data(), {3, 8}));
  const std::size_t axes[] = {0, 1, 2, 0, 1, 2, 0, 0};
  for (std::size_t j = 0; j < 8; ++j) {
    EXPECT_EQ(cos[j], expected_cos[axes[j] * 8 + j]) << j;
    EXPECT_EQ(sin[j], expected_sin[axes[j] * 8 + j]) << j;
  }
}

TEST(rope_angles, of_sections_are_plain_for_text) {
  rope_config config = config_of(rope_kind::plain, 16, 1.0, 0);
  const rope_angles plain(config);
  config.sections = {4, 2, 2};
  std::vector<float> cos(8), sin(8), plain_cos(8), plain_sin(8);
  rope_angles(config).fill(std::vector<rope_position>{77}, tensor(cos.data(), {1, 8}), tensor(sin.data(), {1, 8}));
  plain.fill(std::vector<rope_position>{77}, tensor(plain_cos.data(), {1, 8}), tensor(plain_sin.data(), {1, 8}));
  EXPECT_EQ(cos, plain_cos);
  EXPECT_EQ(sin, plain_sin);
}

} // namespace
} // namespace omni
