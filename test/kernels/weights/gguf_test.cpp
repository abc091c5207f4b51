#include "kernels/weights/gguf_file.hpp"

#include "test/kernels/weights/file_builder.hpp"

#include <functional>
#include <gmock/gmock.h>

namespace omni {
namespace {

using test::exact_bytes;
using test::file_builder;
using test::refusal;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr std::uint32_t u32_type = 4;
constexpr std::uint32_t string_type = 8;
constexpr std::uint32_t array_type = 9;

/// A GGUF file as data, so that each case can spoil one thing.
struct gguf_recipe {
  struct tensor_line {
    std::string name;
    std::vector<std::uint64_t> dims; // fastest first, as in the file
    std::uint32_t type = 0;
    std::uint64_t offset = 0;
  };
  std::string_view magic = "GGUF";
  std::uint32_t version = 3;
  std::vector<file_builder> pairs;
  std::vector<tensor_line> tensors{{"a", {3, 2}, 0, 0}, {"b", {32}, 8, 32}}; // F32 and Q8_0
  std::size_t alignment = 32;
  std::size_t data_bytes = 66;
  std::optional<std::uint64_t> tensor_count;
  std::optional<std::uint64_t> pair_count;

  [[nodiscard]] std::string build() const {
    file_builder out;
    out.raw(magic)
        .number(version)
        .number(tensor_count.value_or(tensors.size()))
        .number(pair_count.value_or(pairs.size()));
    for (const auto& pair : pairs) out.raw(pair.text);
    for (const auto& line : tensors) {
      out.string(line.name).number(static_cast<std::uint32_t>(line.dims.size()));
      for (const auto dim : line.dims) out.number(dim);
      out.number(line.type).number(line.offset);
    }
    out.pad(alignment);
    const auto start = out.text.size();
    for (float value = 1; value <= 6; ++value) out.number(value);
    out.text.resize(start + data_bytes, '\1');
    return out.text;
  }
};

template <class T>
file_builder pair(const std::string& key, std::uint32_t type, T value) {
  return file_builder().string(key).number(type).number(value);
}

file_builder text_pair(const std::string& key, const std::string& value) {
  return file_builder().string(key).number(string_type).string(value);
}

template <class T>
file_builder array_pair(const std::string& key, std::uint32_t type, const std::vector<T>& values) {
  file_builder out;
  out.string(key).number(array_type).number(type).number<std::uint64_t>(values.size());
  for (const auto& value : values)
    if constexpr (std::is_same_v<T, std::string>)
      out.string(value);
    else
      out.number(value);
  return out;
}

gguf_recipe with_metadata() {
  gguf_recipe recipe;
  recipe.pairs = {text_pair("general.architecture", "llama"),
                  pair<std::uint8_t>("u8", 0, 200),
                  pair<std::int8_t>("i8", 1, -2),
                  pair<std::uint16_t>("u16", 2, 60000),
                  pair<std::int16_t>("i16", 3, -3),
                  pair<std::uint32_t>("u32", u32_type, 4000000000),
                  pair<std::int32_t>("i32", 5, -4),
                  pair<float>("f32", 6, 0.5F),
                  pair<std::uint8_t>("yes", 7, 1),
                  pair<std::uint64_t>("u64", 10, 1ULL << 40),
                  pair<std::uint64_t>("beyond", 10, ~0ULL),
                  pair<std::int64_t>("i64", 11, -(1LL << 40)),
                  pair<double>("f64", 12, 0.25),
                  pair<float>("nan", 6, std::numeric_limits<float>::quiet_NaN()),
                  array_pair<std::string>("tokens", string_type, {"a", "", "bc"}),
                  array_pair<std::int32_t>("types", 5, {1, 3, -1}),
                  array_pair<float>("scores", 6, {0.5F, -1.0F})};
  return recipe;
}

std::shared_ptr<const gguf_file> parse(const gguf_recipe& recipe) {
  auto bytes = std::make_shared<std::vector<std::byte>>(exact_bytes(recipe.build()));
  return gguf_file::parse(*bytes, "some.gguf", bytes);
}

TEST(gguf, tensors_are_views_with_the_slowest_axis_first) {
  const auto file = parse({});
  EXPECT_THAT(file->names(), ElementsAre("a", "b"));
  const auto a = file->get("a", {2, 3});
  std::vector<float> values(6);
  read_f32(a, values);
  EXPECT_THAT(values, ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_EQ(file->get("b", {32}).type, dtype::q8_0);
  EXPECT_FALSE(file->find("c"));
}

TEST(gguf, version_2_reads_the_same) {
  gguf_recipe recipe;
  recipe.version = 2;
  EXPECT_EQ(parse(recipe)->names().size(), 2U);
}

TEST(gguf, a_missing_tensor_or_another_shape_is_named) {
  const auto file = parse({});
  EXPECT_EQ(refusal("some.gguf",
                    [&] {
                      (void)file->get("c", {2, 3});
                    }),
            "some.gguf: expected a tensor 'c' of shape [2, 3], found none of that name.");
  EXPECT_EQ(refusal("some.gguf",
                    [&] {
                      (void)file->get("a", {3, 2});
                    }),
            "some.gguf: expected tensor 'a' of shape [3, 2], found [2, 3].");
}

TEST(gguf, metadata_is_read_by_type) {
  const auto file = parse(with_metadata());
  const auto& metadata = file->metadata();
  constexpr int_range any{INT64_MIN, INT64_MAX};
  EXPECT_EQ(metadata.get_string("general.architecture"), "llama");
  EXPECT_EQ(metadata.get_int("u8"), 200);
  EXPECT_EQ(metadata.get_int("i8", any), -2);
  EXPECT_EQ(metadata.get_int("u16"), 60000);
  EXPECT_EQ(metadata.get_int("i16", any), -3);
  EXPECT_EQ(metadata.get_int("u32", any), 4000000000);
  EXPECT_EQ(metadata.get_int("i32", any), -4);
  EXPECT_EQ(metadata.get_int("u64", any), 1LL << 40);
  EXPECT_EQ(metadata.get_int("i64", any), -(1LL << 40));
  EXPECT_EQ(metadata.get_float("f32"), 0.5);
  EXPECT_EQ(metadata.get_float("f64"), 0.25);
  EXPECT_TRUE(metadata.get_bool("yes"));
  EXPECT_THAT(metadata.get_strings("tokens"), ElementsAre("a", "", "bc"));
  EXPECT_THAT(metadata.get_ints("types", any), ElementsAre(1, 3, -1));
  EXPECT_THAT(metadata.get_floats("scores"), ElementsAre(0.5F, -1.0F));
}

TEST(gguf, a_missing_key_is_nothing_for_find_and_a_sentence_for_get) {
  const auto file = parse(with_metadata());
  const auto& metadata = file->metadata();
  EXPECT_FALSE(metadata.has("none"));
  EXPECT_FALSE(metadata.find_int("none"));
  EXPECT_FALSE(metadata.find_strings("none"));
  EXPECT_EQ(refusal("some.gguf", [&] { (void)metadata.get_int("none"); }),
            "some.gguf: expected an integer under key 'none', found no such key.");
}

TEST(gguf, a_value_of_another_type_or_range_is_refused_by_both) {
  const auto file = parse(with_metadata());
  const auto& metadata = file->metadata();
  const std::vector<std::pair<std::function<void()>, std::string>> cases = {
      {[&] { (void)metadata.find_int("f32"); }, "an integer from 0 to 2147483647 under key 'f32', found float"},
      {[&] { (void)metadata.find_int("tokens"); }, "found array of type string"},
      {[&] {
         (void)metadata.find_int("u8", {0, 100});
       },
       "an integer from 0 to 100 under key 'u8', found integer 200"},
      {[&] { (void)metadata.find_int("i8"); }, "found integer -2"},
      {[&] { (void)metadata.find_int("beyond"); }, "found integer"},
      {[&] { (void)metadata.get_string("u8"); }, "a string under key 'u8', found integer 200"},
      {[&] { (void)metadata.find_float("u8"); }, "a float under key 'u8'"},
      {[&] { (void)metadata.find_float("nan"); }, "a finite float under key 'nan', found nan"},
      {[&] { (void)metadata.find_bool("u8"); }, "a bool under key 'u8'"},
      {[&] { (void)metadata.find_strings("types"); },
       "an array of strings under key 'types', found array of type integer"},
      {[&] { (void)metadata.find_strings("general.architecture"); }, "found string"},
      {[&] { (void)metadata.find_ints("scores"); }, "an array of integers under key 'scores'"},
      {[&] { (void)metadata.find_ints("types"); },
       "expected integers from 0 to 2147483647 under key 'types', found -1"},
      {[&] { (void)metadata.find_floats("types"); }, "an array of floats under key 'types'"},
  };
  for (const auto& [action, expected] : cases) EXPECT_THAT(refusal("some.gguf", action), HasSubstr(expected));
}

TEST(gguf, survives_cuts_and_changed_bytes) {
  auto recipe = with_metadata();
  recipe.pairs.push_back(pair<std::uint32_t>("general.alignment", u32_type, 64));
  recipe.alignment = 64;
  recipe.tensors[1].offset = 64;
  recipe.data_bytes = 98;
  test::expect_robust<gguf_file>(recipe.build());
}

struct hostile_gguf {
  const char* what;
  std::function<void(gguf_recipe&)> spoil;
  const char* expected;
  friend void PrintTo(const hostile_gguf& one, std::ostream* out) { *out << one.what; }
};

class gguf_refuses : public ::testing::TestWithParam<hostile_gguf> {};

TEST_P(gguf_refuses, with_one_sentence) {
  gguf_recipe recipe;
  GetParam().spoil(recipe);
  EXPECT_THAT(refusal("some.gguf", [&] { parse(recipe); }), HasSubstr(GetParam().expected));
}

file_builder nested_array(int depth) {
  file_builder out;
  out.string("k").number(array_type);
  for (int i = 0; i < depth; ++i) out.number(array_type).number<std::uint64_t>(1);
  return out.number(u32_type).number<std::uint64_t>(1).number<std::uint32_t>(7);
}

INSTANTIATE_TEST_SUITE_P(
    gguf, gguf_refuses,
    ::testing::Values(
        hostile_gguf{"another_magic", [](auto& x) { x.magic = "GGML"; }, "begins with 'GGUF', found 'GGML'"},
        hostile_gguf{"version_1", [](auto& x) { x.version = 1; }, "version 2 or 3 in little-endian order, found 1"},
        hostile_gguf{"big_endian", [](auto& x) { x.version = 0x03000000; }, "little-endian"},
        hostile_gguf{"too_many_tensors", [](auto& x) { x.tensor_count = ~0ULL; }, "more than"},
        hostile_gguf{"too_many_keys", [](auto& x) { x.pair_count = 1ULL << 60; }, "more than"},
        hostile_gguf{"one_tensor_too_many", [](auto& x) { x.tensor_count = 3; }, "damaged"},
        hostile_gguf{"a_long_key", [](auto& x) { x.pairs = {file_builder().number(~0ULL)}, x.pair_count = 1; },
                     "a key of at most 65535"},
        hostile_gguf{"a_long_string",
                     [](auto& x) { x.pairs = {file_builder().string("k").number(string_type).number(~0ULL)}; },
                     "ends inside of a text value"},
        hostile_gguf{"a_long_array",
                     [](auto& x) {
                       x.pairs = {
                           file_builder().string("k").number(array_type).number(std::uint32_t{10}).number(1ULL << 61)};
                     },
                     "ends inside of the value of a key"},
        hostile_gguf{
            "an_array_with_an_overflowing_size",
            [](auto& x) {
              x.pairs = {
                  file_builder().string("k").number(array_type).number(std::uint32_t{10}).number((1ULL << 61) + 1)};
            },
            "ends inside of the value of a key"},
        hostile_gguf{"a_long_array_of_strings",
                     [](auto& x) {
                       x.pairs = {file_builder().string("k").number(array_type).number(string_type).number(~0ULL)};
                     },
                     "ends inside of a text value"},
        hostile_gguf{"an_unknown_value_type", [](auto& x) { x.pairs = {pair<std::uint32_t>("k", 13, 1)}; },
                     "types 0 to 12"},
        hostile_gguf{"deep_arrays", [](auto& x) { x.pairs = {nested_array(100)}; }, "nested at most 4 deep"},
        hostile_gguf{"a_repeated_key",
                     [](auto& x) {
                       x.pairs = {pair<std::uint32_t>("k", 4, 1), pair<std::uint32_t>("k", 4, 1)};
                     },
                     "key 'k' appears twice"},
        hostile_gguf{"a_repeated_tensor", [](auto& x) { x.tensors[1].name = x.tensors[0].name; },
                     "tensor 'a' appears twice"},
        hostile_gguf{"a_long_tensor_name", [](auto& x) { x.tensors[0].name = std::string(65, 'x'); },
                     "at most 64 bytes, found 65"},
        hostile_gguf{"a_name_with_control_characters",
                     [](auto& x) { x.tensors[0].name = std::string("a\n\x1b[31m"), x.tensors[0].type = 99; },
                     "tensor 'a??[31m'"},
        hostile_gguf{"no_axes", [](auto& x) { x.tensors[0].dims = {}; }, "1 to 4 axes, found 0"},
        hostile_gguf{"five_axes",
                     [](auto& x) {
                       x.tensors[0].dims = {1, 1, 1, 1, 1};
                     },
                     "1 to 4 axes, found 5"},
        hostile_gguf{"an_empty_axis",
                     [](auto& x) {
                       x.tensors[0].dims = {3, 0};
                     },
                     "has an empty axis"},
        hostile_gguf{"an_overflowing_shape",
                     [](auto& x) {
                       x.tensors[0].dims = {1ULL << 32, 1ULL << 32};
                     },
                     "beyond any memory"},
        hostile_gguf{"a_negative_axis", [](auto& x) { x.tensors[0].dims = {~0ULL}; }, "beyond any memory"},
        hostile_gguf{"a_removed_type", [](auto& x) { x.tensors[0].type = 4; }, "GGML type 4, expected"},
        hostile_gguf{"a_row_that_is_no_whole_block",
                     [](auto& x) {
                       x.tensors[1].dims = {16, 2};
                     },
                     "16 values, expected a multiple of 32 for type Q8_0"},
        hostile_gguf{"a_tensor_off_its_alignment", [](auto& x) { x.tensors[1].offset = 24; },
                     "at a multiple of 32 bytes, found it at 24"},
        hostile_gguf{"a_tensor_past_the_end", [](auto& x) { x.tensors[1].offset = 64; }, "takes 34 bytes at 64"},
        hostile_gguf{"a_tensor_far_past_the_end", [](auto& x) { x.tensors[1].offset = ~0ULL - 31; },
                     "takes 34 bytes at"},
        hostile_gguf{"overlapping_tensors", [](auto& x) { x.tensors[1].offset = 0; }, "tensors 'a' and 'b' overlap"},
        hostile_gguf{"an_alignment_of_0", [](auto& x) { x.pairs = {pair<std::uint32_t>("general.alignment", 4, 0)}; },
                     "'general.alignment', found integer 0"},
        hostile_gguf{"an_alignment_of_24", [](auto& x) { x.pairs = {pair<std::uint32_t>("general.alignment", 4, 24)}; },
                     "power of two, found 24"},
        hostile_gguf{"a_huge_alignment",
                     [](auto& x) { x.pairs = {pair<std::uint32_t>("general.alignment", 4, 1U << 31)}; },
                     "general.alignment"},
        hostile_gguf{"an_alignment_of_another_type", [](auto& x) { x.pairs = {text_pair("general.alignment", "32")}; },
                     "found string"},
        hostile_gguf{"a_part_of_a_split_model", [](auto& x) { x.pairs = {pair<std::uint16_t>("split.count", 2, 2)}; },
                     "give the path of the first part"}),
    [](const auto& one) { return one.param.what; });

/// One part of a model of two: part 0 has tensor "a", part 1 has tensor "b".
gguf_recipe split_part(std::uint16_t number, std::int32_t total_tensors = 2) {
  gguf_recipe recipe;
  recipe.tensors = {{number == 0 ? "a" : "b", {3, 2}, 0, 0}};
  recipe.pairs = {pair<std::uint16_t>("split.no", 2, number), pair<std::uint16_t>("split.count", 2, 2),
                  pair<std::int32_t>("split.tensors.count", 5, total_tensors)};
  return recipe;
}

TEST(gguf, parts_of_a_split_model_are_one_checkpoint) {
  const test::temporary_folder folder;
  const auto first = folder.write("m-00001-of-00002.gguf", split_part(0).build());
  folder.write("m-00002-of-00002.gguf", split_part(1).build());
  const auto file = gguf_file::open(first);
  EXPECT_THAT(file->names(), ElementsAre("a", "b"));
  test::read_all(*file);
}

TEST(gguf, incomplete_or_mixed_parts_are_refused) {
  const test::temporary_folder folder;
  const auto first = folder.write("m-00001-of-00002.gguf", split_part(0).build());
  const auto open_first = [&] { gguf_file::open(first); };
  EXPECT_THAT(refusal("m-00002-of-00002.gguf", open_first), HasSubstr("Cannot open"));
  const auto second = folder.write("m-00002-of-00002.gguf", split_part(0).build());
  EXPECT_THAT(refusal(second, open_first), HasSubstr("expected part 2 of 2"));
  folder.write("m-00002-of-00002.gguf", split_part(1).build());
  EXPECT_THAT(refusal(second, [&] { gguf_file::open(second); }), HasSubstr("give the path of the first part"));
  const auto renamed = folder.write("other.gguf", split_part(0).build());
  EXPECT_THAT(refusal(renamed, [&] { gguf_file::open(renamed); }), HasSubstr("named ...-00001-of-00002.gguf"));
  folder.write("m-00001-of-00002.gguf", split_part(0, 3).build());
  EXPECT_THAT(refusal(first, open_first), HasSubstr("expected 3 tensors in all parts, found 2"));
}

} // namespace
} // namespace omni
