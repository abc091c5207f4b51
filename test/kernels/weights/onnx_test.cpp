#include "kernels/weights/onnx_file.hpp"

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

/// One protobuf message under construction.
struct message {
  std::string text;

  message& varint(std::uint64_t value) {
    for (; value > 127; value >>= 7) text += static_cast<char>(value | 0x80);
    text += static_cast<char>(value);
    return *this;
  }
  message& number(std::uint64_t field, std::uint64_t value) { return varint(field << 3).varint(value); }
  message& bytes(std::uint64_t field, std::string_view value) {
    varint(field << 3 | 2).varint(value.size());
    text += value;
    return *this;
  }
  message& float32(std::uint64_t field, float value) {
    varint(field << 3 | 5);
    text += file_builder().number(value).text;
    return *this;
  }
};

std::string packed(std::initializer_list<std::uint64_t> values) {
  message out;
  for (const auto value : values) out.varint(value);
  return out.text;
}

template <class T>
std::string raw(std::initializer_list<T> values) {
  file_builder out;
  for (const auto value : values) out.number(value);
  return out.text;
}

constexpr std::uint64_t f32_type = 1;

/// name, dims and data_type; the caller adds the values.
message tensor_head(std::string_view name, std::initializer_list<std::uint64_t> dims, std::uint64_t type) {
  message out;
  out.bytes(1, packed(dims)).number(2, type);
  if (!name.empty()) out.bytes(8, name);
  return out;
}

message node(std::string_view op, std::string_view name, std::initializer_list<std::string_view> inputs,
             std::initializer_list<std::string_view> outputs) {
  message out;
  for (const auto input : inputs) out.bytes(1, input);
  for (const auto output : outputs) out.bytes(2, output);
  return out.bytes(3, name).bytes(4, op);
}

/// A model of some fields of its graph: (field number, message).
std::string model(std::initializer_list<std::pair<std::uint64_t, message>> parts) {
  message graph;
  for (const auto& [field, part] : parts) graph.bytes(field, part.text);
  return message().number(1, 8).bytes(7, graph.text).text;
}

std::shared_ptr<const onnx_file> parse(const std::string& text) {
  auto bytes = std::make_shared<std::vector<std::byte>>(exact_bytes(text));
  return onnx_file::parse(*bytes, "some.onnx", bytes);
}

std::vector<float> values_of(const onnx_file& file, std::string_view name) {
  const auto view = file.find(name);
  if (!view) return {};
  std::vector<float> values(static_cast<std::size_t>(view->values()));
  read_f32(*view, values);
  return values;
}

TEST(onnx, initializers_are_read_in_every_spelling_of_their_values) {
  const auto file = parse(model({
      {5, tensor_head("raw", {2, 2}, 1).bytes(9, raw<float>({1, 2, 3, 4}))},
      {5, tensor_head("packed_floats", {3}, 1).bytes(4, raw<float>({5, 6, 7}))},
      {5, tensor_head("single_floats", {2}, 1).float32(4, 8).float32(4, 9)},
      {5, tensor_head("doubles", {1}, 11).bytes(10, raw<double>({0.5}))},
      {5, tensor_head("packed_longs", {2}, 7).bytes(7, packed({10, ~0ULL}))},
      {5, tensor_head("single_longs", {2}, 7).number(7, 11).number(7, 12)},
      {5, tensor_head("halves", {2}, 10).bytes(5, packed({0x3c00, 0xc000}))},
      {5, tensor_head("raw_halves", {1}, 10).bytes(9, raw<std::uint16_t>({0x3800}))},
      {5, tensor_head("ints", {2}, 6).bytes(5, packed({3, ~0ULL - 3}))},
      {5, message().number(1, 1).number(1, 2).number(2, 3).bytes(8, "dims_one_by_one").bytes(9, "\x01\xff")},
      {5, message().number(2, 1).bytes(8, "scalar").bytes(9, raw<float>({0.25F}))},
  }));
  EXPECT_THAT(values_of(*file, "raw"), ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(values_of(*file, "packed_floats"), ElementsAre(5, 6, 7));
  EXPECT_THAT(values_of(*file, "single_floats"), ElementsAre(8, 9));
  EXPECT_THAT(values_of(*file, "doubles"), ElementsAre(0.5));
  EXPECT_THAT(values_of(*file, "packed_longs"), ElementsAre(10, -1));
  EXPECT_THAT(values_of(*file, "single_longs"), ElementsAre(11, 12));
  EXPECT_THAT(values_of(*file, "halves"), ElementsAre(1, -2));
  EXPECT_THAT(values_of(*file, "raw_halves"), ElementsAre(0.5));
  EXPECT_THAT(values_of(*file, "ints"), ElementsAre(3, -4));
  EXPECT_THAT(values_of(*file, "dims_one_by_one"), ElementsAre(1, -1));
  EXPECT_THAT(values_of(*file, "scalar"), ElementsAre(0.25));
  EXPECT_EQ(file->get("raw", {2, 2}).type, dtype::f32);
  EXPECT_EQ(file->names().size(), 11U);
}

message value_info(std::string_view name) { return message().bytes(1, name); }

TEST(onnx, inputs_do_not_list_initializers) {
  const auto file = parse(model({{11, value_info("input")},
                                 {11, value_info("w")},
                                 {12, value_info("output")},
                                 {5, tensor_head("w", {1}, f32_type).bytes(9, raw<float>({1}))}}));
  EXPECT_THAT(file->inputs(), ElementsAre("input"));
  EXPECT_THAT(file->outputs(), ElementsAre("output"));
}

TEST(onnx, nodes_have_their_attributes) {
  auto conv = node("Conv", "/dec/conv", {"x", "w", ""}, {"y"});
  conv.bytes(5, message().bytes(1, "kernel_shape").bytes(8, packed({3, 5})).number(20, 7).text);
  conv.bytes(5, message().bytes(1, "group").number(3, ~0ULL).number(20, 2).text);
  conv.bytes(5, message().bytes(1, "alpha").float32(2, 0.5F).text);
  conv.bytes(5, message().bytes(1, "scales").float32(7, 1).bytes(7, raw<float>({2, 3})).text);
  conv.bytes(5, message().bytes(1, "auto_pad").bytes(4, "NOTSET").text);
  const auto file = parse(model({{1, conv}}));
  const onnx_node* found = file->find_node("/dec/conv");
  ASSERT_NE(found, nullptr);
  EXPECT_EQ(found->op_type, "Conv");
  EXPECT_THAT(found->inputs, ElementsAre("x", "w", ""));
  EXPECT_THAT(found->find_attribute("kernel_shape")->ints, ElementsAre(3, 5));
  EXPECT_EQ(found->find_attribute("group")->i, -1);
  EXPECT_EQ(found->find_attribute("alpha")->f, 0.5F);
  EXPECT_THAT(found->find_attribute("scales")->floats, ElementsAre(1, 2, 3));
  EXPECT_EQ(found->find_attribute("auto_pad")->s, "NOTSET");
  EXPECT_EQ(found->find_attribute("pads"), nullptr);
  EXPECT_EQ(file->find_node("/dec/none"), nullptr);
}

message weight(std::string_view name, float value) {
  return tensor_head(name, {1, 1}, f32_type).bytes(9, raw<float>({value}));
}

/// y = Conv(x, w1, b1), z = ConvTranspose(y, w2, b2) where b2 is another name of b1; out = Conv(z, w3).
std::string small_graph() {
  auto constant = node("Constant", "c", {}, {"three"});
  constant.bytes(5, message().bytes(1, "value").bytes(5, weight("", 3).text).text);
  return model({{1, node("Identity", "i1", {"b1"}, {"b2"})},
                {1, node("Identity", "i2", {"b2"}, {"b3"})},
                {1, constant},
                {1, node("Conv", "conv1", {"x", "w1", "b1"}, {"y"})},
                {1, node("ConvTranspose", "conv2", {"y", "w2", "b2"}, {"z"})},
                {1, node("Conv", "conv3", {"z", "w3"}, {"out"})},
                {1, node("Conv", "conv4", {"z", "w4", "b5"}, {"other"})},
                {1, node("Identity", "i3", {"b4"}, {"b5"})},
                {1, node("Cast", "cast", {"input"}, {"ids"})},
                {1, node("Gather", "shape_gather", {"input", "one"}, {"n"})},
                {1, node("Gather", "emb_gather", {"sid", "ids"}, {"e"})},
                {5, weight("w1", 1)},
                {5, weight("b1", 2)},
                {5, weight("b4", 4)},
                {5, weight("sid", 5)},
                {11, value_info("input")},
                {12, value_info("out")}});
}

TEST(onnx, values_are_found_through_identity_nodes_and_constants) {
  const auto file = parse(small_graph());
  EXPECT_EQ(file->resolve("b3"), "b1");
  EXPECT_EQ(file->resolve("x"), "x");
  EXPECT_THAT(values_of(*file, "b3"), ElementsAre(2));
  EXPECT_THAT(values_of(*file, "three"), ElementsAre(3));
  EXPECT_FALSE(file->find("y"));
  EXPECT_FALSE(file->find("none"));
}

TEST(onnx, a_convolution_is_found_by_the_name_of_its_bias) {
  const auto file = parse(small_graph());
  EXPECT_EQ(file->find_conv_by_bias("b1"), file->find_node("conv1"));
  EXPECT_EQ(file->find_conv_by_bias("b2"), file->find_node("conv2"));
  EXPECT_EQ(file->find_conv_by_bias("b4"), file->find_node("conv4")) << "only another name of b4 is used";
  EXPECT_EQ(file->find_conv_by_bias("b3"), nullptr) << "two convolutions share what b3 names";
  EXPECT_EQ(file->find_conv_by_bias("none"), nullptr);
  EXPECT_EQ(file->find_conv_by_bias(""), nullptr);
}

TEST(onnx, the_table_read_with_an_input_is_found_by_use_not_by_name) {
  const auto file = parse(small_graph());
  EXPECT_EQ(file->find_gather_table("input"), "sid");
  EXPECT_FALSE(file->find_gather_table("sid"));
}

TEST(onnx, producers_and_consumers_follow_the_graph) {
  const auto file = parse(small_graph());
  EXPECT_EQ(file->producer("z"), file->find_node("conv2"));
  EXPECT_EQ(file->producer("input"), nullptr);
  EXPECT_THAT(file->consumers("z"), ElementsAre(file->find_node("conv3"), file->find_node("conv4")));
  EXPECT_TRUE(file->consumers("out").empty());
}

TEST(onnx, a_circle_of_identities_ends) {
  const auto file =
      parse(model({{1, node("Identity", "i1", {"a"}, {"b"})}, {1, node("Identity", "i2", {"b"}, {"a"})}}));
  EXPECT_FALSE(file->find("a"));
  EXPECT_FALSE(file->find_gather_table("a"));
}

TEST(onnx, survives_cuts_and_changed_bytes) {
  auto graph = small_graph();
  test::expect_robust<onnx_file>(graph);
}

struct hostile_onnx {
  const char* what;
  std::string text;
  const char* expected;
  friend void PrintTo(const hostile_onnx& one, std::ostream* out) { *out << one.what; }
};

class onnx_refuses : public ::testing::TestWithParam<hostile_onnx> {};

TEST_P(onnx_refuses, with_one_sentence) {
  EXPECT_THAT(refusal("some.onnx", [] { parse(GetParam().text); }), HasSubstr(GetParam().expected));
}

std::string initializer(const message& tensor) { return model({{5, tensor}}); }

message external(std::string_view location, std::string_view offset = "", std::string_view length = "") {
  auto out = tensor_head("w", {2}, f32_type).number(14, 1);
  out.bytes(13, message().bytes(1, "location").bytes(2, location).text);
  if (!offset.empty()) out.bytes(13, message().bytes(1, "offset").bytes(2, offset).text);
  if (!length.empty()) out.bytes(13, message().bytes(1, "length").bytes(2, length).text);
  return out;
}

INSTANTIATE_TEST_SUITE_P(
    onnx, onnx_refuses,
    ::testing::Values(
        hostile_onnx{"nothing", "", "expected an ONNX model with a graph, found none"},
        hostile_onnx{"text", "this is no model", "damaged"},
        hostile_onnx{"two_graphs", model({}) + model({}), "expected one ONNX graph, found two"},
        hostile_onnx{"a_graph_that_is_a_number", message().number(7, 1).text, "field 7 to have wire type 2, found 0"},
        hostile_onnx{"field_0", message().number(0, 1).text, "expected the number of a protobuf field, found 0"},
        hostile_onnx{"a_huge_field_number", message().varint(1ULL << 60).text,
                     "expected the number of a protobuf field"},
        hostile_onnx{"a_group", message().varint(7 << 3 | 3).text, "wire type 0, 1, 2 or 5, found 3"},
        hostile_onnx{"an_endless_number", std::string(11, '\xff'), "at most 64 bits, found a longer one"},
        hostile_onnx{"a_field_past_the_end", message().varint(7 << 3 | 2).varint(~0ULL).text, "bytes are left"},
        hostile_onnx{"an_inner_field_past_its_message",
                     message().bytes(7, message().varint(5 << 3 | 2).varint(9).text).text + "123456789",
                     "only 0 bytes are left"},
        hostile_onnx{"a_nameless_initializer", initializer(weight("", 1)), "an ONNX initializer has no name"},
        hostile_onnx{"a_repeated_initializer", model({{5, weight("w", 1)}, {5, weight("w", 1)}}),
                     "tensor 'w' appears twice"},
        hostile_onnx{"strings", initializer(tensor_head("w", {1}, 8)), "tensor 'w' has ONNX data type 8"},
        hostile_onnx{"no_type", initializer(message().bytes(8, "w")), "has ONNX data type 0"},
        hostile_onnx{"a_negative_axis", initializer(tensor_head("w", {~0ULL}, 1)), "beyond any memory"},
        hostile_onnx{"an_overflowing_shape", initializer(tensor_head("w", {1ULL << 40, 1ULL << 40}, 1)),
                     "beyond any memory"},
        hostile_onnx{"a_huge_shape_without_values", initializer(tensor_head("w", {1ULL << 40}, 1)),
                     "expected 4398046511104 bytes for the shape of tensor 'w', found 0"},
        hostile_onnx{"a_huge_shape_with_one_long", initializer(tensor_head("w", {1ULL << 40}, 7).number(7, 1)),
                     "found 1 or others"},
        hostile_onnx{"nine_axes", initializer(tensor_head("w", {1, 1, 1, 1, 1, 1, 1, 1, 1}, 1)), "9 axes"},
        hostile_onnx{"too_few_values", initializer(tensor_head("w", {3}, 1).bytes(9, raw<float>({1, 2}))),
                     "expected 12 bytes for the shape of tensor 'w', found 8"},
        hostile_onnx{"too_many_values", initializer(tensor_head("w", {1}, 1).bytes(9, raw<float>({1, 2}))),
                     "expected 4 bytes for the shape of tensor 'w', found 8"},
        hostile_onnx{"longs_for_a_float_tensor", initializer(tensor_head("w", {1}, 1).number(7, 1)),
                     "or others of another type"},
        hostile_onnx{"values_in_two_fields",
                     initializer(tensor_head("w", {1}, 7).number(7, 1).bytes(9, raw<std::int64_t>({1}))),
                     "or others of another type"},
        hostile_onnx{"a_broken_packed_float_attribute",
                     model({{1, message().bytes(5, message().bytes(7, "abc").text)}}),
                     "expected packed floats, found 3 bytes"},
        hostile_onnx{"external_data_without_a_folder", initializer(external("weights.bin")),
                     "in a file of the model's folder, found 'weights.bin'"}),
    [](const auto& one_case) { return one_case.param.what; });

TEST(onnx, external_data_beside_the_model_is_mapped) {
  const test::temporary_folder folder;
  folder.write("data/weights.bin", raw<float>({1, 2, 3, 4}));
  const auto path = folder.write("m.onnx", initializer(external("data/weights.bin", "4", "8")));
  EXPECT_THAT(values_of(*onnx_file::open(path), "w"), ElementsAre(2, 3));
  folder.write("m.onnx", initializer(external("data/weights.bin")));
  EXPECT_THAT(values_of(*onnx_file::open(path), "w"), ElementsAre(1, 2));
}

TEST(onnx, external_data_that_leaves_the_folder_or_its_file_is_refused) {
  const test::temporary_folder folder;
  const auto outside = folder.write("outside.bin", raw<float>({1, 2}));
  folder.write("model/inside.bin", raw<float>({1, 2}));
  std::filesystem::create_symlink("../outside.bin", folder.path() / "model/link.bin");
  std::filesystem::create_directory_symlink("..", folder.path() / "model/up");
  const std::vector<std::pair<message, std::string>> cases = {
      {external("../outside.bin"), "in a file of the model's folder, found '../outside.bin'"},
      {external("x/../../outside.bin"), "in a file of the model's folder"},
      {external(outside.string()), "in a file of the model's folder"},
      {external(""), "in a file of the model's folder, found ''"},
      {external(std::string_view("inside.bin\0.bin", 15)), "in a file of the model's folder, found 'inside.bin?.bin'"},
      {external("link.bin"), "found a link out of it, 'link.bin'"},
      {external("up/outside.bin"), "found a link out of it, 'up/outside.bin'"},
      {external("none.bin"), "Cannot open"},
      {external("inside.bin", "4"), "takes 8 bytes at 4, but the file has only 8"},
      {external("inside.bin", "18446744073709551615"), "but the file has only 8"},
      {external("inside.bin", "0", "18446744073709551615"), "but the file has only 8"},
      {external("inside.bin", "0", "4"), "expected 8 bytes for the shape of tensor 'w', found 4"},
      {external("inside.bin", "-1"), "expected an offset or length of external data, found '-1'"},
      {external("inside.bin", "1e3"), "found '1e3'"},
  };
  for (const auto& [tensor, expected] : cases) {
    const auto path = folder.write("model/m.onnx", initializer(tensor));
    EXPECT_THAT(refusal("model", [&] { onnx_file::open(path); }), HasSubstr(expected));
  }
}

} // namespace
} // namespace omni
