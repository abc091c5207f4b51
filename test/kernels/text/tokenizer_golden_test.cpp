#include "kernels/text/tokenizer.hpp"
#include "test/support/golden.hpp"

#include <fstream>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>
#include <sstream>

namespace omni::text {
namespace {

using nlohmann::json;
using ids = std::vector<std::int32_t>;

std::string contents_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream all;
  all << in.rdbuf();
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return all.str();
}

/// Calls `check(tokenizer, golden)` for every tokenizer of the golden data.
template <class F>
void for_each_tokenizer(F check) {
  for (const auto& file : test::golden_files("tokenizer", ".json")) {
    SCOPED_TRACE(file.filename().string());
    const json golden = json::parse(contents_of(file));
    const auto source = file.parent_path() / golden.at("tokenizer").get<std::string>();
    check(tokenizer::from_json(contents_of(source), source.string()), golden);
  }
}

std::string hex(std::string_view bytes) {
  std::string out;
  for (const char byte : bytes) {
    constexpr char digits[] = "0123456789abcdef";
    out += digits[static_cast<unsigned char>(byte) >> 4U];
    out += digits[static_cast<unsigned char>(byte) & 15U];
  }
  return out;
}

std::string fnv1a64(const ids& of) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const std::int32_t id : of)
    for (unsigned shift = 0; shift < 32; shift += 8)
      hash = (hash ^ ((static_cast<std::uint32_t>(id) >> shift) & 0xFFU)) * 0x100000001b3U;
  std::ostringstream text;
  text << std::hex << std::setw(16) << std::setfill('0') << hash;
  return text.str();
}

TEST(tokenizer, golden_encodes_as_the_reference) {
  for_each_tokenizer([](const tokenizer& model, const json& golden) {
    ASSERT_FALSE(golden.at("encode").empty());
    for (const json& each : golden.at("encode")) {
      const auto text = each.at("text").get<std::string>();
      SCOPED_TRACE(each.at("text").dump());
      EXPECT_EQ(model.encode(text), each.at("ids").get<ids>());
      EXPECT_EQ(model.encode(text, specials::as_text), each.at("ids_specials_as_text").get<ids>());
      const auto with_model_tokens = each.value("ids_with_post_processor", each.at("ids")).get<ids>();
      EXPECT_EQ(model.encode(text, specials::recognised, true), with_model_tokens);
    }
  });
}

TEST(tokenizer, golden_decodes_what_it_encoded) {
  for_each_tokenizer([](const tokenizer& model, const json& golden) {
    for (const json& each : golden.at("encode")) {
      SCOPED_TRACE(each.at("text").dump());
      const auto encoded = each.at("ids").get<ids>();
      EXPECT_EQ(model.decode(encoded, false), each.at("decoded").get<std::string>());
      EXPECT_EQ(model.decode(encoded, true), each.at("decoded_skip_special").get<std::string>());
    }
  });
}

TEST(tokenizer, golden_decodes_any_ids_to_the_exact_bytes) {
  for_each_tokenizer([](const tokenizer& model, const json& golden) {
    ASSERT_FALSE(golden.at("decode").empty());
    for (const json& each : golden.at("decode")) {
      SCOPED_TRACE(each.at("ids").dump());
      const auto given = each.at("ids").get<ids>();
      std::string bytes;
      for (const std::int32_t id : given) bytes += model.token_bytes(id);
      EXPECT_EQ(hex(bytes), each.at("bytes_hex").get<std::string>());
      EXPECT_EQ(model.decode(given, false), each.at("text").get<std::string>());
      EXPECT_EQ(model.decode(given, true), each.at("text_skip_special").get<std::string>());
    }
  });
}

TEST(tokenizer, golden_encodes_long_monotonous_text_as_the_reference) {
  for_each_tokenizer([](const tokenizer& model, const json& golden) {
    for (const json& each : golden.at("long")) {
      SCOPED_TRACE(each.at("unit").dump() + " times " + each.at("count").dump());
      std::string text;
      for (int i = 0; i < each.at("count").get<int>(); ++i) text += each.at("unit").get<std::string>();
      const ids encoded = model.encode(text);
      ASSERT_EQ(encoded.size(), each.at("n_ids").get<std::size_t>());
      const ids first = each.at("first_ids").get<ids>();
      const ids last = each.at("last_ids").get<ids>();
      EXPECT_TRUE(std::equal(first.begin(), first.end(), encoded.begin()));
      EXPECT_TRUE(std::equal(last.rbegin(), last.rend(), encoded.rbegin()));
      EXPECT_EQ(fnv1a64(encoded), each.at("ids_fnv1a64").get<std::string>());
      EXPECT_EQ(model.decode(encoded, false), text);
    }
  });
}

TEST(tokenizer, golden_knows_its_tokens_by_content) {
  for (const auto& folder : test::golden_folders("tokenizer")) {
    SCOPED_TRACE(folder.string());
    const json file = json::parse(contents_of(folder / "tokenizer.json"));
    const tokenizer model = tokenizer::from_json(file.dump(), folder.string());
    for (const auto& [content, id] : file.at("model").at("vocab").items()) {
      EXPECT_EQ(model.id_of(content), id.get<std::int32_t>());
      EXPECT_EQ(model.token_content(id.get<std::int32_t>()), content);
    }
    for (const json& added : file.at("added_tokens")) {
      const auto id = added.at("id").get<std::int32_t>();
      EXPECT_EQ(model.id_of(added.at("content").get<std::string>()), id);
      EXPECT_EQ(model.is_special(id), added.at("special").get<bool>());
      EXPECT_LT(id, model.vocab_size());
    }
  }
}

} // namespace
} // namespace omni::text
