#include "kernels/weights/convert.hpp"
#include "kernels/weights/gguf_file.hpp"
#include "test/support/golden.hpp"
#include "test/support/golden_case.hpp"

#include <bit>
#include <cmath>
#include <gtest/gtest.h>

namespace omni {
namespace {

using test::golden_case;

/// Steps between two floats on the line of all floats.
std::int64_t ulps(float a, float b) {
  const auto place = [](float x) {
    const auto bits = std::bit_cast<std::int32_t>(x);
    return bits < 0 ? std::int64_t{INT32_MIN} - bits : std::int64_t{bits};
  };
  return std::abs(place(a) - place(b));
}

void expect_same(const std::vector<float>& found, const std::vector<float>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    ASSERT_LE(ulps(found[i], expected[i]), 1) << i << ": " << found[i] << ' ' << expected[i];
}

dtype dtype_named(const std::string& name) {
  for (int i = 0; i <= static_cast<int>(dtype::q6_k); ++i)
    if (info(static_cast<dtype>(i)).name == name) return static_cast<dtype>(i);
  throw std::runtime_error("The golden data has a type that the engine does not know: " + name + ".");
}

TEST(golden_gguf, block_bytes_have_the_values_of_the_reference) {
  const golden_case golden(test::golden_dir() / "gguf" / "dequantise.json");
  int types = 0;
  for (const auto& name : golden.tensors().names()) {
    if (!name.ends_with(".bytes")) continue;
    const auto type_name = name.substr(0, name.rfind('.'));
    SCOPED_TRACE(type_name);
    const auto expected = golden.f32(type_name + ".values");
    auto bytes = golden.u8(name);
    const tensor view(bytes.data(), dtype_named(type_name), {static_cast<std::int64_t>(expected.size())});
    ASSERT_EQ(view.bytes(), static_cast<std::int64_t>(bytes.size()));
    std::vector<float> found(expected.size());
    read_f32(view, found);
    expect_same(found, expected);
    ++types;
  }
  EXPECT_GT(types, 0);
}

/// The first rows of a tensor in the order of Hugging Face files.
std::vector<float> first_rows(const gguf_file& file, const std::string& name, std::int64_t rows) {
  auto view = file.find(name).value();
  std::vector<std::byte> unpermuted;
  const auto& metadata = file.metadata();
  const std::string family(metadata.get_string("general.architecture"));
  if (family == "llama" && (name.ends_with("attn_q.weight") || name.ends_with("attn_k.weight"))) {
    const auto heads = metadata.get_int(family + ".attention.head_count");
    const auto head_dim = metadata.find_int(family + ".attention.key_length")
                              .value_or(metadata.get_int(family + ".embedding_length") / heads);
    unpermuted.resize(static_cast<std::size_t>(view.bytes()));
    unpermute_rows(view, head_dim, unpermuted);
    view.data = unpermuted.data();
  }
  std::vector<float> values(static_cast<std::size_t>(rows * view.columns()));
  read_rows_f32(view, 0, rows, values);
  return values;
}

TEST(golden_gguf, tensors_dequantise_to_the_rows_of_the_reference) {
  const std::string prefix = "dequantised.";
  int compared = 0;
  for (const auto& path : test::golden_files("gguf", ".gguf")) {
    const golden_case golden(std::filesystem::path(path).replace_extension(".json"));
    const auto file = gguf_file::open(path);
    for (const auto& name : golden.tensors().names()) {
      if (!name.starts_with(prefix)) continue;
      SCOPED_TRACE(golden.name() + " " + name);
      expect_same(first_rows(*file, name.substr(prefix.size()), golden.extents(name)[0]), golden.f32(name));
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

/// Compares a tensor with its line in the case's JSON.
void expect_described(const golden_case& golden, const std::string& name, const nlohmann::json& line) {
  const auto view = golden.tensors().find(name);
  ASSERT_TRUE(view) << name;
  std::int64_t values = 1;
  for (const auto& extent : line.at("shape")) values *= extent.get<std::int64_t>();
  EXPECT_EQ(view->values(), values);
  if (!line.contains("absmax") || !line.at("absmax").is_number()) return;
  double greatest = 0;
  for (const float value : golden.f32(name))
    if (std::isfinite(value)) greatest = std::max(greatest, std::abs(double(value)));
  EXPECT_NEAR(greatest, line.at("absmax").get<double>(), 1e-5 * greatest + 1e-6);
}

TEST(golden_safetensors, every_case_loads_as_its_json_describes_it) {
  int cases = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::golden_dir())) {
    const auto& path = entry.path();
    auto json_path = path;
    if (path.extension() != ".safetensors" || !std::filesystem::exists(json_path.replace_extension(".json"))) continue;
    SCOPED_TRACE(path.string());
    const golden_case golden(path);
    if (!golden.json().contains("tensors")) continue;
    for (const auto& [name, line] : golden.json().at("tensors").items()) expect_described(golden, name, line);
    ++cases;
  }
  EXPECT_GT(cases, 0);
}

TEST(golden_safetensors, every_model_folder_opens) {
  int models = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(test::golden_dir())) {
    if (entry.path().filename() != "model.safetensors") continue;
    const auto file = open_checkpoint(entry.path().parent_path());
    for (const auto& name : file->names()) {
      const auto view = file->find(name).value();
      std::vector<float> values(static_cast<std::size_t>(view.values()));
      read_f32(view, values);
      for (const float value : values) ASSERT_TRUE(std::isfinite(value)) << name;
    }
    ++models;
  }
  EXPECT_GT(models, 0);
}

} // namespace
} // namespace omni
