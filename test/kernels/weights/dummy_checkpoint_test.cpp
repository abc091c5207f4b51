#include "kernels/weights/dummy_checkpoint.hpp"

#include "test/kernels/weights/file_builder.hpp"

#include <algorithm>
#include <cmath>
#include <gtest/gtest.h>

namespace omni {
namespace {

std::vector<float> values_of(const tensor& t) {
  std::vector<float> values(static_cast<std::size_t>(t.values()));
  read_f32(t, values);
  return values;
}

struct moments {
  double mean = 0, deviation = 0;
};
moments moments_of(const std::vector<float>& values) {
  moments m;
  for (const float v : values) m.mean += v / static_cast<double>(values.size());
  for (const float v : values) m.deviation += (v - m.mean) * (v - m.mean) / static_cast<double>(values.size());
  m.deviation = std::sqrt(m.deviation);
  return m;
}

dtype type_in(const std::string& config) { return weights_type(hf_config::parse(config, "config.json")); }

TEST(dummy_checkpoint, matrices_lie_around_zero_and_norms_around_one) {
  for (const auto type : {dtype::f32, dtype::f16, dtype::bf16}) {
    const dummy_checkpoint weights("a folder", type);
    const tensor matrix = weights.get("layer.weight", {300, 200});
    EXPECT_EQ(matrix.type, type);
    const auto m = moments_of(values_of(matrix));
    EXPECT_NEAR(m.mean, 0.0, 1e-3);
    EXPECT_NEAR(m.deviation, 0.02, 1e-3);
    const auto norm = moments_of(values_of(weights.get("norm.weight", {5000})));
    EXPECT_NEAR(norm.mean, 1.0, 5e-3);
    EXPECT_GT(norm.deviation, 0.01);
    EXPECT_NEAR(moments_of(values_of(weights.get("layer.bias", {5000}))).mean, 0.0, 5e-3);
  }
}

TEST(dummy_checkpoint, a_name_and_shape_have_the_same_values_each_time_and_others_have_others) {
  const dummy_checkpoint one("a folder", dtype::bf16), again("a folder", dtype::bf16);
  (void)again.get("asked before", {40, 40}); // the order does not matter
  const shape extents{64, 64};
  EXPECT_EQ(values_of(one.get("a.weight", extents)), values_of(again.get("a.weight", extents)));
  EXPECT_EQ(values_of(one.get("a.weight", extents)), values_of(one.get("a.weight", extents)));
  EXPECT_NE(values_of(one.get("a.weight", extents)), values_of(one.get("b.weight", extents)));
}

TEST(dummy_checkpoint, a_tensor_larger_than_the_noise_has_no_two_equal_rows_near_each_other) {
  const dummy_checkpoint weights("a folder", dtype::bf16);
  const tensor small = weights.get("small", {8, 8});
  const auto before = values_of(small);
  constexpr std::int64_t columns = 4096, rows = 2600; // 10.6 million values
  const tensor large = weights.get("large", {rows, columns});
  EXPECT_EQ(values_of(small), before) << "what was given out stays valid";
  const auto* const bytes = static_cast<const std::byte*>(large.data);
  const auto row = [&](std::int64_t r) { return bytes + r * row_bytes(large.type, columns); };
  for (std::int64_t r = 1; r < rows; ++r)
    ASSERT_FALSE(std::equal(row(0), row(1), row(r))) << "row " << r << " is row 0 again";
}

TEST(dummy_checkpoint, knows_by_name_what_was_asked_for) {
  const dummy_checkpoint weights("a folder", dtype::bf16);
  EXPECT_FALSE(weights.find("a.weight"));
  (void)weights.get("b.weight", {2, 3});
  (void)weights.get("a.weight", {4});
  EXPECT_EQ(weights.names(), (std::vector<std::string>{"a.weight", "b.weight"}));
  EXPECT_TRUE(weights.find("b.weight")->extents == (shape{2, 3}));
  EXPECT_NE(test::refusal("a folder",
                          [&] {
                            (void)weights.get("b.weight", {3, 2});
                          })
                .find("[2, 3]"),
            std::string::npos);
}

TEST(dummy_checkpoint, has_the_type_that_the_configuration_names) {
  EXPECT_EQ(type_in(R"({"torch_dtype": "float32"})"), dtype::f32);
  EXPECT_EQ(type_in(R"({"dtype": "float16"})"), dtype::f16);
  EXPECT_EQ(type_in(R"({"dtype": "bfloat16", "torch_dtype": "float32"})"), dtype::bf16);
  EXPECT_EQ(type_in(R"({"thinker_config": {"dtype": "float32"}})"), dtype::f32);
  EXPECT_EQ(type_in("{}"), dtype::bf16);
}

} // namespace
} // namespace omni
