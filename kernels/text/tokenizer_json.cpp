#include "kernels/core/error.hpp"
#include "kernels/text/pre_patterns.hpp"
#include "kernels/text/tokenizer.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <nlohmann/json.hpp>

namespace omni::text {
namespace {

using nlohmann::json;

/// Reads the parts of a `tokenizer.json`; every function throws `load_error` with one sentence.
class json_reader {
public:
  explicit json_reader(const std::string& where) : where_(where) {}

  tokenizer_parts read(const json& root) {
    if (!root.is_object()) refuse("expected a JSON object, found " + std::string(root.type_name()));
    read_model(field(root, "model", json::value_t::object));
    if (const json* added = optional_field(root, "added_tokens", json::value_t::array))
      for (const json& token : *added) read_added_token(token);
    if (const json* normalizer = optional_field(root, "normalizer", json::value_t::object))
      read_normalizer(*normalizer);
    if (const json* cut = optional_field(root, "pre_tokenizer", json::value_t::object)) read_pre_tokenizer(*cut);
    if (!byte_level_) refuse("the pre_tokenizer has no ByteLevel step; only byte-level BPE is supported");
    if (const json* post = optional_field(root, "post_processor", json::value_t::object)) read_post_processor(*post);
    return std::move(parts_);
  }

private:
  [[noreturn]] void refuse(const std::string& what) const { throw load_error(where_ + ": " + what + "."); }

  const json* optional_field(const json& object, const char* key, json::value_t type) const {
    if (!object.is_object())
      refuse("expected an object with the field '" + std::string(key) + "', found " + object.type_name());
    const auto found = object.find(key);
    if (found == object.end() || found->is_null()) return nullptr;
    if (found->type() != type)
      refuse("field '" + std::string(key) + "' should be " + json(type).type_name() + ", found " + found->type_name());
    return &*found;
  }

  const json& field(const json& object, const char* key, json::value_t type) const {
    const json* found = optional_field(object, key, type);
    if (found == nullptr) refuse("field '" + std::string(key) + "' is missing");
    return *found;
  }

  [[nodiscard]] std::string text_of(const json& object, const char* key) const {
    return field(object, key, json::value_t::string).get<std::string>();
  }

  [[nodiscard]] bool flag(const json& object, const char* key, bool absent = false) const {
    const json* found = optional_field(object, key, json::value_t::boolean);
    return found == nullptr ? absent : found->get<bool>();
  }

  [[nodiscard]] std::int32_t id_of(const json& value, const std::string& token) const {
    const bool fits = value.is_number_unsigned() && value.get<std::uint64_t>() <= INT32_MAX;
    if (!fits)
      refuse("token '" + token.substr(0, 40) + "' should have a number as its id, found " + value.dump().substr(0, 40));
    return value.get<std::int32_t>();
  }

  void read_model(const json& model) {
    if (const json* type = optional_field(model, "type", json::value_t::string); type != nullptr && *type != "BPE")
      refuse("model.type is '" + type->get<std::string>() + "', but only BPE is supported");
    if (flag(model, "byte_fallback")) refuse("model.byte_fallback is set, but only byte-level BPE is supported");
    for (const char* affix : {"continuing_subword_prefix", "end_of_word_suffix"})
      if (const json* text = optional_field(model, affix, json::value_t::string); text != nullptr && *text != "")
        refuse("model." + std::string(affix) + " is set, but only byte-level BPE is supported");
    parts_.ignore_merges = flag(model, "ignore_merges");
    const json& vocabulary = field(model, "vocab", json::value_t::object);
    parts_.vocabulary.reserve(vocabulary.size());
    for (const auto& [content, id] : vocabulary.items()) parts_.vocabulary.push_back({content, id_of(id, content)});
    if (const json* unknown = optional_field(model, "unk_token", json::value_t::string)) {
      const auto found = vocabulary.find(unknown->get<std::string>());
      if (found == vocabulary.end()) refuse("model.unk_token is not in the vocabulary");
      parts_.unknown = id_of(*found, unknown->get<std::string>());
    }
    for (const json& merge : field(model, "merges", json::value_t::array)) read_merge(merge);
  }

  void read_merge(const json& merge) {
    if (merge.is_array() && merge.size() == 2 && merge[0].is_string() && merge[1].is_string()) {
      parts_.merges.emplace_back(merge[0].get<std::string>(), merge[1].get<std::string>());
      return;
    }
    const std::string text = merge.is_string() ? merge.get<std::string>() : "";
    const std::size_t space = text.find(' ');
    if (space == std::string::npos) refuse("a merge should be two tokens, found " + merge.dump().substr(0, 40));
    parts_.merges.emplace_back(text.substr(0, space), text.substr(space + 1));
  }

  void read_added_token(const json& token) {
    added_token read;
    read.content = text_of(token, "content");
    read.id = id_of(token.value("id", json()), read.content);
    read.special = flag(token, "special");
    read.single_word = flag(token, "single_word");
    read.lstrip = flag(token, "lstrip");
    read.rstrip = flag(token, "rstrip");
    read.normalized = flag(token, "normalized", !read.special);
    parts_.added.push_back(std::move(read));
  }

  void read_normalizer(const json& normalizer) {
    const std::string type = text_of(normalizer, "type");
    if (type == "Sequence") {
      for (const json& step : field(normalizer, "normalizers", json::value_t::array)) read_normalizer(step);
      return;
    }
    static constexpr std::array<std::pair<const char*, normal_form>, 4> known = {{{"NFC", normal_form::nfc},
                                                                                  {"NFD", normal_form::nfd},
                                                                                  {"NFKC", normal_form::nfkc},
                                                                                  {"NFKD", normal_form::nfkd}}};
    const auto* form = std::find_if(known.begin(), known.end(), [&](const auto& each) { return type == each.first; });
    if (form == known.end()) refuse("normalizer '" + type + "' is not supported; NFC, NFD, NFKC and NFKD are");
    if (parts_.normalizer) refuse("more than one normalizer in a row is not supported");
    parts_.normalizer = form->second;
  }

  void read_pre_tokenizer(const json& step) {
    const std::string type = text_of(step, "type");
    if (type == "Sequence") {
      for (const json& each : field(step, "pretokenizers", json::value_t::array)) read_pre_tokenizer(each);
    } else if (type == "Split") {
      read_split(step);
    } else if (type == "Digits") {
      parts_.cut.add_digits(flag(step, "individual_digits"));
    } else if (type == "ByteLevel") {
      if (flag(step, "add_prefix_space", true)) refuse("ByteLevel.add_prefix_space is set, which is not supported");
      if (flag(step, "use_regex", true))
        parts_.cut.add_pattern({std::string(gpt2_pattern), where_}, pre_tokenizer::keep::all);
      byte_level_ = true;
    } else {
      refuse("pre_tokenizer '" + type + "' is not supported; Sequence, Split, Digits and ByteLevel are");
    }
  }

  void read_split(const json& step) {
    const json& pattern = field(step, "pattern", json::value_t::object);
    std::string expression;
    if (const json* literal = optional_field(pattern, "String", json::value_t::string)) {
      for (const char c : literal->get<std::string>()) {
        if (static_cast<unsigned char>(c) < 0x80 && std::isalnum(static_cast<unsigned char>(c)) == 0)
          expression += '\\';
        expression += c;
      }
    } else {
      expression = text_of(pattern, "Regex");
    }
    const std::string behavior = text_of(step, "behavior");
    const bool invert = flag(step, "invert");
    auto kept = pre_tokenizer::keep::all;
    if (behavior == "Removed")
      kept = invert ? pre_tokenizer::keep::matches : pre_tokenizer::keep::gaps;
    else if (behavior != "Isolated")
      refuse("Split.behavior '" + behavior + "' is not supported; Isolated and Removed are");
    parts_.cut.add_pattern({expression, where_}, kept);
  }

  void read_post_processor(const json& post) {
    const std::string type = text_of(post, "type");
    if (type == "Sequence") {
      for (const json& step : field(post, "processors", json::value_t::array)) read_post_processor(step);
    } else if (type == "TemplateProcessing") {
      read_template(post);
    } else if (type != "ByteLevel") { // which only moves offsets
      refuse("post_processor '" + type + "' is not supported; Sequence, ByteLevel and TemplateProcessing are");
    }
  }

  /// A list of special tokens around one "Sequence".
  void read_template(const json& post) {
    std::vector<std::int32_t> before;
    std::vector<std::int32_t> after;
    int sequences = 0;
    for (const json& item : field(post, "single", json::value_t::array)) {
      if (optional_field(item, "Sequence", json::value_t::object) != nullptr) {
        ++sequences;
        continue;
      }
      const std::string name = text_of(field(item, "SpecialToken", json::value_t::object), "id");
      const json& table = field(post, "special_tokens", json::value_t::object);
      for (const json& id : field(field(table, name.c_str(), json::value_t::object), "ids", json::value_t::array))
        (sequences == 0 ? before : after).push_back(id_of(id, name));
    }
    if (sequences != 1) refuse("post_processor.single should hold one Sequence, found " + std::to_string(sequences));
    parts_.before.insert(parts_.before.begin(), before.begin(), before.end());
    parts_.after.insert(parts_.after.end(), after.begin(), after.end());
  }

  const std::string& where_;
  tokenizer_parts parts_;
  bool byte_level_ = false;
};

} // namespace

tokenizer tokenizer::from_json(std::string_view text, const std::string& where) {
  try {
    return {json_reader(where).read(json::parse(text)), where};
  } catch (const json::exception& error) {
    throw load_error(where + ": expected a tokenizer.json, but it is not valid JSON (" + error.what() +
                     "); get the file again.");
  }
}

} // namespace omni::text
