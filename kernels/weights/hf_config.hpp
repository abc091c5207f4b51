#pragma once

#include "kernels/weights/int_range.hpp"

#include <filesystem>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omni {

/// Typed reading of one JSON object: a config.json, a voice's JSON, or an object inside of one. A key that is null
/// counts as missing. Every `load_error` names the file, the key with its path, expected and found. Cheap to copy.
class hf_config {
public:
  /// Reads and parses a file; throws `load_error` when it is no JSON object, too large or nested too deeply.
  static hf_config load(const std::filesystem::path& path);
  static hf_config parse(std::string_view text, std::string where);

  /// The file, for messages.
  [[nodiscard]] const std::string& where() const;
  [[nodiscard]] bool has(std::string_view key) const;
  /// All keys, sorted; also those that are null.
  [[nodiscard]] std::vector<std::string> keys() const;

  [[nodiscard]] std::int64_t required_int(std::string_view key, int_range range = {}) const;
  [[nodiscard]] std::int64_t int_or(std::string_view key, std::int64_t fallback, int_range range = {}) const;
  [[nodiscard]] double required_float(std::string_view key) const; // an integer is accepted
  [[nodiscard]] double float_or(std::string_view key, double fallback) const;
  [[nodiscard]] bool required_bool(std::string_view key) const;
  [[nodiscard]] bool bool_or(std::string_view key, bool fallback) const;
  [[nodiscard]] std::string required_string(std::string_view key) const;
  [[nodiscard]] std::string string_or(std::string_view key, std::string fallback) const;
  /// Arrays; empty when the key is missing. A single value counts as an array of one (`eos_token_id`).
  [[nodiscard]] std::vector<std::int64_t> ints(std::string_view key, int_range range = {}) const;
  [[nodiscard]] std::vector<double> floats(std::string_view key) const;
  [[nodiscard]] std::vector<std::string> strings(std::string_view key) const;

  /// The object under `key`; throws when it is missing.
  [[nodiscard]] hf_config child(std::string_view key) const;
  [[nodiscard]] std::optional<hf_config> find_child(std::string_view key) const;

private:
  struct document;
  hf_config(std::shared_ptr<const document> root, const nlohmann::json* object, std::string path)
      : root_(std::move(root)), object_(object), path_(std::move(path)) {}
  [[nodiscard]] const nlohmann::json* lookup(std::string_view key) const;
  template <class T, class Accept>
  [[nodiscard]] std::vector<T> array(std::string_view key, const std::string& expected, Accept accept) const;
  [[nodiscard]] std::string path_of(std::string_view key) const;
  [[noreturn]] void mismatch(std::string_view key, const std::string& expected, const nlohmann::json* found) const;

  std::shared_ptr<const document> root_;
  const nlohmann::json* object_; // inside of root_
  std::string path_;             // "thinker_config.text_config", empty at the top
};

} // namespace omni
