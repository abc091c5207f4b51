#include "kernels/weights/gguf_metadata.hpp"

#include "kernels/weights/reject.hpp"

#include <cmath>
#include <cstring>

namespace omni {
namespace {

using value_type = gguf_metadata::value_type;

template <class T>
T load(const std::byte* at) {
  T number;
  std::memcpy(&number, at, sizeof number);
  return number;
}

std::string_view load_string(const std::byte* at) {
  return {reinterpret_cast<const char*>(at) + 8, static_cast<std::size_t>(load<std::uint64_t>(at))};
}

bool is_integer(value_type type) {
  switch (type) {
  case value_type::f32:
  case value_type::f64:
  case value_type::boolean:
  case value_type::string:
  case value_type::array:
    return false;
  default:
    return true;
  }
}

std::int64_t integer_width(value_type type) {
  switch (type) {
  case value_type::u8:
  case value_type::i8:
    return 1;
  case value_type::u16:
  case value_type::i16:
    return 2;
  case value_type::u32:
  case value_type::i32:
    return 4;
  default:
    return 8;
  }
}

/// An integer of any width; one beyond the range of i64 becomes its largest.
std::int64_t load_integer(value_type type, const std::byte* at) {
  switch (type) {
  case value_type::u8:
    return load<std::uint8_t>(at);
  case value_type::i8:
    return load<std::int8_t>(at);
  case value_type::u16:
    return load<std::uint16_t>(at);
  case value_type::i16:
    return load<std::int16_t>(at);
  case value_type::u32:
    return load<std::uint32_t>(at);
  case value_type::i32:
    return load<std::int32_t>(at);
  case value_type::u64:
    return static_cast<std::int64_t>(
        std::min<std::uint64_t>(load<std::uint64_t>(at), std::numeric_limits<std::int64_t>::max()));
  default:
    return load<std::int64_t>(at);
  }
}

std::string name_of(value_type type) {
  switch (type) {
  case value_type::f32:
  case value_type::f64:
    return "float";
  case value_type::boolean:
    return "bool";
  case value_type::string:
    return "string";
  case value_type::array:
    return "array";
  default:
    return "integer";
  }
}

std::string in_words(int_range range) { return std::to_string(range.low) + " to " + std::to_string(range.high); }

} // namespace

void gguf_metadata::add(std::string_view key, const value& added) {
  if (!values_.try_emplace(key, added).second) reject_damaged(where_, "key " + shown(key) + " appears twice");
}

const gguf_metadata::value* gguf_metadata::lookup(std::string_view key) const {
  const auto found = values_.find(key);
  return found == values_.end() ? nullptr : &found->second;
}

void gguf_metadata::missing(std::string_view key, const char* expected) const {
  reject(where_, std::string("expected ") + expected + " under key " + shown(key) + ", found no such key");
}

void gguf_metadata::mismatch(std::string_view key, const std::string& expected, const value& found) const {
  std::string what = "array of type " + name_of(found.type);
  if (!found.is_array) {
    what = name_of(found.type);
    if (is_integer(found.type)) what += " " + std::to_string(load_integer(found.type, found.bytes.data()));
  }
  reject(where_, "expected " + expected + " under key " + shown(key) + ", found " + what);
}

std::optional<std::string_view> gguf_metadata::find_string(std::string_view key) const {
  const value* found = lookup(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_array || found->type != value_type::string) mismatch(key, "a string", *found);
  return load_string(found->bytes.data());
}

std::optional<std::int64_t> gguf_metadata::find_int(std::string_view key, int_range range) const {
  const value* found = lookup(key);
  if (found == nullptr) return std::nullopt;
  const auto expected = "an integer from " + in_words(range);
  if (found->is_array || !is_integer(found->type)) mismatch(key, expected, *found);
  const auto number = load_integer(found->type, found->bytes.data());
  if (number < range.low || number > range.high) mismatch(key, expected, *found);
  return number;
}

std::optional<double> gguf_metadata::find_float(std::string_view key) const {
  const value* found = lookup(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_array || (found->type != value_type::f32 && found->type != value_type::f64))
    mismatch(key, "a float", *found);
  const double number =
      found->type == value_type::f32 ? load<float>(found->bytes.data()) : load<double>(found->bytes.data());
  if (!std::isfinite(number))
    reject(where_, "expected a finite float under key " + shown(key) + ", found " + std::to_string(number));
  return number;
}

std::optional<bool> gguf_metadata::find_bool(std::string_view key) const {
  const value* found = lookup(key);
  if (found == nullptr) return std::nullopt;
  if (found->is_array || found->type != value_type::boolean) mismatch(key, "a bool", *found);
  return found->bytes[0] != std::byte{0};
}

std::optional<std::vector<std::string_view>> gguf_metadata::find_strings(std::string_view key) const {
  const value* found = lookup(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_array || found->type != value_type::string) mismatch(key, "an array of strings", *found);
  std::vector<std::string_view> strings;
  strings.reserve(found->count);
  for (auto rest = found->bytes; !rest.empty(); rest = rest.subspan(8 + strings.back().size()))
    strings.push_back(load_string(rest.data()));
  return strings;
}

std::optional<std::vector<std::int64_t>> gguf_metadata::find_ints(std::string_view key, int_range range) const {
  const value* found = lookup(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_array || !is_integer(found->type)) mismatch(key, "an array of integers", *found);
  std::vector<std::int64_t> numbers;
  numbers.reserve(found->count);
  for (std::uint64_t i = 0; i < found->count; ++i) {
    const auto number =
        load_integer(found->type, found->bytes.data() + static_cast<std::int64_t>(i) * integer_width(found->type));
    if (number < range.low || number > range.high)
      reject(where_, "expected integers from " + in_words(range) + " under key " + shown(key) + ", found " +
                         std::to_string(number));
    numbers.push_back(number);
  }
  return numbers;
}

std::optional<std::vector<float>> gguf_metadata::find_floats(std::string_view key) const {
  const value* found = lookup(key);
  if (found == nullptr) return std::nullopt;
  if (!found->is_array || found->type != value_type::f32) mismatch(key, "an array of floats", *found);
  std::vector<float> numbers(found->count);
  if (!numbers.empty()) std::memcpy(numbers.data(), found->bytes.data(), found->bytes.size());
  return numbers;
}

std::string_view gguf_metadata::get_string(std::string_view key) const {
  if (const auto found = find_string(key)) return *found;
  missing(key, "a string");
}

std::int64_t gguf_metadata::get_int(std::string_view key, int_range range) const {
  if (const auto found = find_int(key, range)) return *found;
  missing(key, "an integer");
}

double gguf_metadata::get_float(std::string_view key) const {
  if (const auto found = find_float(key)) return *found;
  missing(key, "a float");
}

bool gguf_metadata::get_bool(std::string_view key) const {
  if (const auto found = find_bool(key)) return *found;
  missing(key, "a bool");
}

std::vector<std::string_view> gguf_metadata::get_strings(std::string_view key) const {
  if (auto found = find_strings(key)) return std::move(*found);
  missing(key, "an array of strings");
}

std::vector<std::int64_t> gguf_metadata::get_ints(std::string_view key, int_range range) const {
  if (auto found = find_ints(key, range)) return std::move(*found);
  missing(key, "an array of integers");
}

std::vector<float> gguf_metadata::get_floats(std::string_view key) const {
  if (auto found = find_floats(key)) return std::move(*found);
  missing(key, "an array of floats");
}

} // namespace omni
