#pragma once

#include "kernels/weights/int_range.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace omni {

/// The key-value pairs of a GGUF file. Strings are views into the file and live as long as it.
/// `get_*` throws `load_error` when the key is missing, `find_*` returns nothing then; both throw when the value has
/// another type or is out of range. Every message names the file, the key, expected and found.
class gguf_metadata {
public:
  /// Types of the container, by their number in the file.
  enum class value_type : std::uint32_t { u8, i8, u16, i16, u32, i32, f32, boolean, string, array, u64, i64, f64 };
  /// Where a value lies in the file, already checked: `bytes` holds all of it.
  struct value {
    value_type type; // of the value, or of the elements of an array
    bool is_array = false;
    std::uint64_t count = 1;          // elements of an array
    std::span<const std::byte> bytes; // the elements, without the array's header
  };

  explicit gguf_metadata(std::string where) : where_(std::move(where)) {}
  /// Adds a pair; throws `load_error` when the key is taken.
  void add(std::string_view key, const value& added);

  [[nodiscard]] bool has(std::string_view key) const { return values_.contains(key); }

  [[nodiscard]] std::string_view get_string(std::string_view key) const;
  [[nodiscard]] std::int64_t get_int(std::string_view key, int_range range = {}) const; // of any width
  [[nodiscard]] double get_float(std::string_view key) const;                           // f32 or f64, finite
  [[nodiscard]] bool get_bool(std::string_view key) const;
  [[nodiscard]] std::vector<std::string_view> get_strings(std::string_view key) const;
  [[nodiscard]] std::vector<std::int64_t> get_ints(std::string_view key, int_range range = {}) const;
  [[nodiscard]] std::vector<float> get_floats(std::string_view key) const;

  [[nodiscard]] std::optional<std::string_view> find_string(std::string_view key) const;
  [[nodiscard]] std::optional<std::int64_t> find_int(std::string_view key, int_range range = {}) const;
  [[nodiscard]] std::optional<double> find_float(std::string_view key) const;
  [[nodiscard]] std::optional<bool> find_bool(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<std::string_view>> find_strings(std::string_view key) const;
  [[nodiscard]] std::optional<std::vector<std::int64_t>> find_ints(std::string_view key, int_range range = {}) const;
  [[nodiscard]] std::optional<std::vector<float>> find_floats(std::string_view key) const;

private:
  [[nodiscard]] const value* lookup(std::string_view key) const;
  [[noreturn]] void missing(std::string_view key, const char* expected) const;
  [[noreturn]] void mismatch(std::string_view key, const std::string& expected, const value& found) const;

  std::string where_;
  std::map<std::string_view, value> values_;
};

} // namespace omni
