#include "app/openai/fields.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>
#include <utility>

namespace omni::openai {
namespace {

std::string shown_number(double value) {
  std::ostringstream out;
  out << value;
  return out.str();
}

/// The whole number that `value` stands for, if it is one and fits.
std::optional<std::int64_t> whole(const json& value) {
  if (value.is_number_unsigned()) {
    const auto number = value.get<std::uint64_t>();
    if (number > std::uint64_t(std::numeric_limits<std::int64_t>::max())) return {};
    return std::int64_t(number);
  }
  if (value.is_number_integer()) return value.get<std::int64_t>();
  if (!value.is_number_float()) return {};
  const auto number = value.get<double>();
  if (std::trunc(number) != number || std::abs(number) >= 0x1p53) return {};
  return std::int64_t(number);
}

} // namespace

fields::fields(const json& object, std::string path, std::optional<failure>& problem)
    : object_(object), path_(std::move(path)), problem_(problem) {}

const json* fields::find(std::string_view name) const {
  const auto found = object_.find(std::string(name));
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

std::string fields::path_of(std::string_view name) const {
  return path_.empty() ? std::string(name) : path_ + "." + std::string(name);
}

void fields::refuse_with(std::string_view name, std::string sentence, errc code) {
  if (!problem_) problem_ = failure{code, std::move(sentence), path_of(name)};
}

void fields::refuse(std::string_view name, std::string_view what) {
  const json* value = find(name);
  refuse_with(name,
              path_of(name) + " " + std::string(what) + (value != nullptr ? ", found " + shown(*value) : "") + ".");
}

std::optional<bool> fields::boolean(std::string_view name) {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (value->is_boolean()) return value->get<bool>();
  refuse(name, "must be true or false");
  return {};
}

std::optional<std::int64_t> fields::integer(std::string_view name, std::int64_t low, std::int64_t high) {
  const json* value = find(name);
  if (value == nullptr) return {};
  const auto number = whole(*value);
  if (number && *number >= low && *number <= high) return number;
  refuse(name, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  return {};
}

std::optional<double> fields::number(std::string_view name, double low, double high, bool above_low) {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (value->is_number()) {
    const auto number = value->get<double>();
    if ((above_low ? number > low : number >= low) && number <= high) return number;
  }
  refuse(name, std::string("must be a number ") + (above_low ? "above " : "from ") + shown_number(low) +
                   (above_low ? ", at most " : " to ") + shown_number(high));
  return {};
}

std::optional<std::string> fields::text(std::string_view name) {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (value->is_string()) return value->get<std::string>();
  refuse(name, "must be a string");
  return {};
}

std::optional<std::string> fields::choice(std::string_view name, const std::vector<std::string>& choices) {
  const json* value = find(name);
  if (value == nullptr) return {};
  if (value->is_string() &&
      std::find(choices.begin(), choices.end(), value->get_ref<const std::string&>()) != choices.end())
    return value->get<std::string>();
  std::string names;
  for (const std::string& each : choices) names += (names.empty() ? "" : ", ") + each;
  refuse(name, "must be one of " + names);
  return {};
}

const json* fields::object(std::string_view name) {
  const json* value = find(name);
  if (value == nullptr || value->is_object()) return value;
  refuse(name, "must be an object");
  return nullptr;
}

const json* fields::list(std::string_view name, std::size_t most) {
  const json* value = find(name);
  if (value == nullptr) return nullptr;
  if (!value->is_array()) {
    refuse(name, "must be a list");
    return nullptr;
  }
  if (value->size() <= most) return value;
  refuse_with(name, path_of(name) + " may have at most " + std::to_string(most) + " items, found " +
                        std::to_string(value->size()) + ".");
  return nullptr;
}

std::optional<std::vector<std::int32_t>> fields::integers(std::string_view name, std::int32_t low, std::int32_t high,
                                                          std::size_t most) {
  const json* items = list(name, most);
  if (items == nullptr) return {};
  std::vector<std::int32_t> out;
  out.reserve(items->size());
  for (std::size_t i = 0; i < items->size(); ++i) {
    const auto number = whole((*items)[i]);
    if (!number || *number < low || *number > high) {
      const std::string item = std::string(name) + "[" + std::to_string(i) + "]";
      refuse_with(item, path_of(item) + " must be a whole number from " + std::to_string(low) + " to " +
                            std::to_string(high) + ", found " + shown((*items)[i]) + ".");
      return {};
    }
    out.push_back(std::int32_t(*number));
  }
  return out;
}

} // namespace omni::openai
