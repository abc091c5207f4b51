#include "kernels/weights/safetensors_file.hpp"

#include "test/kernels/weights/file_builder.hpp"

#include <gmock/gmock.h>

namespace omni {
namespace {

using test::exact_bytes;
using test::file_builder;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string with_header(const std::string& header, std::size_t data_bytes) {
  return file_builder().string(header).text + std::string(data_bytes, '\1');
}

std::shared_ptr<const safetensors_file> parse(const std::string& text) {
  auto bytes = std::make_shared<std::vector<std::byte>>(exact_bytes(text));
  return safetensors_file::parse(*bytes, "some.safetensors", bytes);
}

const std::string good_header =
    R"({"__metadata__":{"format":"pt"},"a":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
    R"("b.c":{"shape":[3],"data_offsets":[24,30],"dtype":"BF16"}}   )";

TEST(safetensors, tensors_are_views_by_name) {
  file_builder out;
  out.string(good_header);
  for (float value = 1; value <= 6; ++value) out.number(value);
  out.raw(std::string_view("\x80\x3f\x00\x40\x40\x40", 6)); // 1, 2, 3 as BF16
  EXPECT_THAT(parse(out.text)->names(), ElementsAre("a", "b.c"));
  std::vector<float> values(6);
  const auto file = parse(out.text);
  read_f32(file->get("a", {2, 3}), values);
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6));
  values.resize(3);
  read_f32(file->get("b.c", {3}), values);
  EXPECT_THAT(values, ElementsAre(1, 2, 3));
}

TEST(safetensors, scalars_empty_tensors_and_five_axes_are_read) {
  const auto file = parse(with_header(R"({"s":{"dtype":"I64","shape":[],"data_offsets":[0,8]},)"
                                      R"("e":{"dtype":"F16","shape":[0,7],"data_offsets":[8,8]},)"
                                      R"("v":{"dtype":"U8","shape":[1,2,1,2,3],"data_offsets":[8,20]}})",
                                      20));
  EXPECT_EQ(file->get("s", {}).type, dtype::i64);
  EXPECT_EQ(file->get("e", {0, 7}).values(), 0);
  EXPECT_EQ(file->get("v", {1, 2, 1, 6}).bytes(), 12);
  test::read_all(*file);
}

TEST(safetensors, a_file_without_tensors_is_read) { EXPECT_TRUE(parse(with_header("{}", 0))->names().empty()); }

TEST(safetensors, survives_cuts_and_changed_bytes) {
  test::expect_robust<safetensors_file>(with_header(good_header, 30));
}

struct hostile_header {
  const char* what;
  std::string header;
  std::size_t data_bytes;
  const char* expected;
  friend void PrintTo(const hostile_header& one, std::ostream* out) { *out << one.what; }
};

class safetensors_refuses : public ::testing::TestWithParam<hostile_header> {};

TEST_P(safetensors_refuses, with_one_sentence) {
  const auto text = with_header(GetParam().header, GetParam().data_bytes);
  EXPECT_THAT(refusal("some.safetensors", [&] { parse(text); }), HasSubstr(GetParam().expected));
}

/// A header with one tensor "a".
std::string one(const std::string& dtype, const std::string& shape, const std::string& offsets) {
  return R"({"a":{"dtype":)" + dtype + R"(,"shape":)" + shape + R"(,"data_offsets":)" + offsets + "}}";
}

std::string two(const std::string& first_offsets, const std::string& second_offsets) {
  return R"({"a":{"dtype":"F32","shape":[2],"data_offsets":)" + first_offsets +
         R"(},"b":{"dtype":"F32","shape":[2],"data_offsets":)" + second_offsets + "}}";
}

INSTANTIATE_TEST_SUITE_P(
    safetensors, safetensors_refuses,
    ::testing::Values(
        hostile_header{"no_json", "{\"a\"", 0, "expected JSON in the header, found an error at its byte"},
        hostile_header{"text_after_the_json", "{} x", 0, "expected JSON in the header"},
        hostile_header{"no_object", "[]", 0, "found an array in the header"},
        hostile_header{"a_number", "7", 0, "found 7 in the header"},
        hostile_header{"null_for_a_tensor", R"({"a":null})", 0, "found null in the header at or after tensor 'a'"},
        hostile_header{"a_huge_number", one("\"F32\"", "[1e999]", "[0,4]"), 4, "expected JSON in the header"},
        hostile_header{"a_number_beyond_64_bits", one("\"F32\"", "[99999999999999999999]", "[0,4]"), 4,
                       "found '99999999999999999999'"},
        hostile_header{"malformed_utf8", "{\"\xff\":{}}", 0, "expected JSON in the header"},
        hostile_header{"deep_arrays", one("\"F32\"", std::string(100000, '['), "[0,4]"), 4, "found an array"},
        hostile_header{"deep_objects", R"({"a":)" + std::string(100000, '{'), 0, "damaged"},
        hostile_header{"deep_metadata", R"({"__metadata__":{"a":{}}})", 0, "found an object"},
        hostile_header{"metadata_with_a_number", R"({"__metadata__":{"a":1}})", 0, "found 1"},
        hostile_header{"a_missing_field", R"({"a":{"dtype":"F32","shape":[1]}})", 4, "found only some of them"},
        hostile_header{"an_unknown_field", R"({"a":{"strides":[1]}})", 4, "a second or unknown field 'strides'"},
        hostile_header{"a_repeated_field", R"({"a":{"dtype":"F32","dtype":"F32"}})", 4,
                       "a second or unknown field 'dtype'"},
        hostile_header{
            "a_repeated_tensor",
            R"({"a":{"dtype":"U8","shape":[1],"data_offsets":[0,1]},"a":{"dtype":"U8","shape":[1],"data_offsets":[1,2]}})",
            2, "tensor 'a' appears twice"},
        hostile_header{"an_unknown_dtype", one("\"F8_E4M3\"", "[4]", "[0,4]"), 4, "has dtype 'F8_E4M3', expected F64"},
        hostile_header{"a_block_dtype", one("\"Q4_0\"", "[32]", "[0,18]"), 18, "has dtype 'Q4_0'"},
        hostile_header{"a_number_as_dtype", one("1", "[4]", "[0,4]"), 4, "found 1"},
        hostile_header{"a_string_as_shape", one("\"F32\"", "\"1\"", "[0,4]"), 4, "found a string"},
        hostile_header{"a_negative_extent", one("\"F32\"", "[-1]", "[0,4]"), 4, "found -1"},
        hostile_header{"a_fractional_extent", one("\"F32\"", "[1.0]", "[0,4]"), 4, "found '1.0'"},
        hostile_header{"an_overflowing_shape", one("\"F32\"", "[4294967296,4294967296]", "[0,0]"), 0,
                       "beyond any memory"},
        hostile_header{"an_overflowing_shape_beside_an_empty_axis",
                       one("\"F32\"", "[0,4294967296,4294967296]", "[0,0]"), 0, "beyond any memory"},
        hostile_header{"an_overflowing_byte_count", one("\"F64\"", "[2305843009213693953]", "[0,8]"), 8,
                       "beyond any memory"},
        hostile_header{"nine_axes", one("\"U8\"", "[1,1,1,1,1,1,1,1,1]", "[0,1]"), 1, "has 9 axes, expected at most 8"},
        hostile_header{"one_offset", one("\"U8\"", "[1]", "[0]"), 1, "another number of offsets than two"},
        hostile_header{"three_offsets", one("\"U8\"", "[1]", "[0,1,1]"), 1, "found 1 in"},
        hostile_header{"offsets_backwards", one("\"U8\"", "[1]", "[1,0]"), 1, "lies at bytes 1 to 0"},
        hostile_header{"offsets_past_the_end", one("\"U8\"", "[2]", "[0,2]"), 1, "but the file has 1 bytes of tensors"},
        hostile_header{"another_size_than_the_shape", one("\"F32\"", "[2]", "[0,4]"), 4,
                       "expected 8 bytes for the shape of tensor 'a', found 4"},
        hostile_header{"overlapping_tensors", two("[0,8]", "[4,12]"), 12, "tensors 'a' and 'b' overlap"},
        hostile_header{"the_same_bytes_twice", two("[0,8]", "[0,8]"), 8, "tensors 'a' and 'b' overlap"},
        hostile_header{"a_gap_at_the_start", one("\"U8\"", "[1]", "[1,2]"), 2,
                       "a gap lies before the bytes of tensor 'a'"},
        hostile_header{"a_gap_between", two("[0,8]", "[12,20]"), 20, "a gap lies before the bytes of tensor 'b'"},
        hostile_header{"bytes_after_the_last_tensor", one("\"U8\"", "[1]", "[0,1]"), 2,
                       "expected 1 bytes of tensors, found 2"}),
    [](const auto& one_case) { return one_case.param.what; });

TEST(safetensors, a_header_longer_than_the_file_or_100_megabytes_is_refused) {
  EXPECT_THAT(refusal("some.safetensors", [] { parse(file_builder().number<std::uint64_t>(3).raw("{}").text); }),
              HasSubstr("at most 2 bytes, found a length of 3"));
  EXPECT_THAT(refusal("some.safetensors", [] { parse(file_builder().number(~0ULL).raw("{}").text); }),
              HasSubstr("at most 2 bytes"));
  const auto large = file_builder().number<std::uint64_t>(100'000'001).text + "{" + std::string(100'000'000, ' ');
  EXPECT_THAT(refusal("some.safetensors", [&] { parse(large); }), HasSubstr("at most 100000000 bytes"));
}

std::string shard(const std::string& tensor_name) {
  return with_header(R"({")" + tensor_name + R"(":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})", 8);
}

TEST(safetensors, a_folder_with_one_file_is_read) {
  const test::temporary_folder folder;
  folder.write("model.safetensors", shard("a"));
  EXPECT_THAT(open_checkpoint(folder.path())->names(), ElementsAre("a"));
}

TEST(safetensors, shards_of_a_folder_are_one_checkpoint) {
  const test::temporary_folder folder;
  folder.write("s1.safetensors", shard("a"));
  folder.write("s2.safetensors", shard("b"));
  folder.write("model.safetensors.index.json",
               R"({"metadata":{"total_size":16},"weight_map":{"a":"s1.safetensors","b":"s2.safetensors"}})");
  const auto file = safetensors_file::open(folder.path());
  EXPECT_THAT(file->names(), ElementsAre("a", "b"));
  test::read_all(*file);
}

TEST(safetensors, a_folder_without_weights_is_refused) {
  const test::temporary_folder folder;
  EXPECT_THAT(refusal(folder.path(), [&] { safetensors_file::open(folder.path()); }), HasSubstr("found neither"));
}

TEST(safetensors, an_index_that_leaves_its_folder_or_lies_is_refused) {
  const test::temporary_folder folder;
  folder.write("outside.safetensors", shard("a"));
  folder.write("model/s1.safetensors", shard("b"));
  std::filesystem::create_directory(folder.path() / "model/folder.safetensors");
  const auto model = folder.path() / "model";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {R"({"weight_map":{"a":"../outside.safetensors"}})",
       "expected a .safetensors file of the same folder for tensor 'a'"},
      {R"({"weight_map":{"a":"/outside.safetensors"}})", "of the same folder"},
      {R"({"weight_map":{"a":"..\\outside.safetensors"}})", "of the same folder"},
      {R"({"weight_map":{"a":"s1.safetensors\u0000.safetensors"}})", "of the same folder"},
      {R"({"weight_map":{"a":"config.json"}})", "of the same folder"},
      {R"({"weight_map":{"a":"s1.safetensors"}})", "expected tensor 'a', which the index lists for this file"},
      {R"({"weight_map":{"a":"none.safetensors"}})", "Cannot open"},
      {R"({"weight_map":{"a":"folder.safetensors"}})", "expected a regular file"},
      {R"({"weight_map":{"a":7}})", "expected a string under key 'weight_map.a', found '7'"},
      {R"({"weight_map":[]})", "expected an object under key 'weight_map'"},
      {R"({})", "expected an object under key 'weight_map', found no such key"},
      {R"([])", "expected a JSON object"},
  };
  for (const auto& [index, expected] : cases) {
    folder.write("model/model.safetensors.index.json", index);
    EXPECT_THAT(refusal(model, [&] { safetensors_file::open(model); }), HasSubstr(expected));
  }
}

TEST(checkpoint, a_file_of_no_known_kind_is_refused) {
  const test::temporary_folder folder;
  const auto path = folder.write("weights.bin", "no weights at all");
  EXPECT_THAT(refusal(path, [&] { open_checkpoint(path); }), HasSubstr("expected a .gguf, .safetensors or .onnx file"));
  EXPECT_THAT(refusal("none.gguf", [&] { open_checkpoint(folder.path() / "none.gguf"); }), HasSubstr("Cannot open"));
}

TEST(checkpoint, a_file_without_its_ending_is_known_by_its_first_bytes) {
  const test::temporary_folder folder;
  EXPECT_THAT(open_checkpoint(folder.write("blob", shard("a")))->names(), ElementsAre("a"));
}

} // namespace
} // namespace omni
