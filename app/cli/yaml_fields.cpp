#include "app/cli/yaml_fields.hpp"

#include "app/cli/nearest.hpp"

#include <limits>
#include <set>
#include <sstream>
#include <utility>
#include <yaml-cpp/yaml.h>

namespace omni::cli {
namespace {

std::string shown(const YAML::Node& node) {
  if (node.IsMap()) return "a mapping";
  if (node.IsSequence()) return "a list";
  if (!node.IsScalar()) return "nothing";
  constexpr std::size_t most = 60;
  return "'" + (node.Scalar().size() <= most ? node.Scalar() : node.Scalar().substr(0, most) + "...") + "'";
}

} // namespace

yaml_fields::yaml_fields(YAML::Node mapping, std::string where, std::string what, std::optional<failure>& problem)
    : mapping_(std::move(mapping)), where_(std::move(where)), what_(std::move(what)), problem_(problem) {
  if (!mapping_.IsMap() && !problem_)
    problem_ = failure{
        errc::invalid_request,
        place(mapping_) + ": " + what_ + " must be a mapping of keys to values, found " + shown(mapping_) + ".", ""};
}

std::string yaml_fields::place(const YAML::Node& node) const {
  return node.Mark().is_null() ? where_ : where_ + " line " + std::to_string(node.Mark().line + 1);
}

YAML::Node yaml_fields::find(const std::string& key) {
  known_.push_back(key);
  if (!mapping_.IsMap()) return YAML::Node(YAML::NodeType::Undefined);
  YAML::Node value = std::as_const(mapping_)[key];
  return value && !value.IsNull() ? value : YAML::Node(YAML::NodeType::Undefined);
}

void yaml_fields::refuse(const std::string& key, const std::string& wanted) {
  if (problem_) return;
  const YAML::Node value = std::as_const(mapping_)[key];
  problem_ = failure{errc::invalid_request,
                     place(value ? value : mapping_) + ": " + key + " of " + what_ + " " + wanted +
                         (value ? ", found " + shown(value) : "") + ".",
                     key};
}

void yaml_fields::read(const std::string& key, std::string& into) {
  const YAML::Node value = find(key);
  if (!value.IsDefined()) return;
  if (!value.IsScalar() || value.Scalar().empty()) return refuse(key, "must be a text");
  into = value.Scalar();
}

void yaml_fields::read(const std::string& key, bool& into) {
  const YAML::Node value = find(key);
  if (value.IsDefined() && !YAML::convert<bool>::decode(value, into)) refuse(key, "must be true or false");
}

template <class T>
void yaml_fields::read_whole(const std::string& key, T& into, std::int64_t low, std::int64_t high) {
  const YAML::Node value = find(key);
  if (!value.IsDefined()) return;
  std::int64_t number = 0;
  if (!value.IsScalar() || !YAML::convert<std::int64_t>::decode(value, number) || number < low || number > high)
    return refuse(key, "must be a whole number from " + std::to_string(low) + " to " + std::to_string(high));
  into = T(number);
}

void yaml_fields::read(const std::string& key, std::int32_t& into, std::int32_t low, std::int32_t high) {
  read_whole(key, into, low, high);
}
void yaml_fields::read(const std::string& key, std::int64_t& into, std::int64_t low, std::int64_t high) {
  read_whole(key, into, low, high);
}

void yaml_fields::read(const std::string& key, double& into, double low, double high) {
  const YAML::Node value = find(key);
  if (!value.IsDefined()) return;
  double number = 0;
  if (!value.IsScalar() || !YAML::convert<double>::decode(value, number) || !(number >= low && number <= high)) {
    std::ostringstream range;
    range << "must be a number from " << low << " to " << high;
    return refuse(key, range.str());
  }
  into = number;
}

void yaml_fields::refuse_unknown() {
  if (problem_ || !mapping_.IsMap()) return;
  std::set<std::string> seen;
  for (const auto& entry : mapping_) {
    if (!entry.first.IsScalar()) {
      problem_ = failure{errc::invalid_request, place(entry.first) + ": the keys of " + what_ + " must be texts.", ""};
      return;
    }
    const std::string key = entry.first.Scalar();
    std::string wrong;
    if (std::find(known_.begin(), known_.end(), key) == known_.end()) {
      const auto near = nearest(key, known_);
      wrong = what_ + " has no key '" + key + "'" +
              (near ? ", did you mean '" + *near + "'?" : "; docs/deploy-yaml.md lists all keys.");
    } else if (!seen.insert(key).second) {
      wrong = "'" + key + "' of " + what_ + " comes twice.";
    }
    if (!wrong.empty()) {
      problem_ = failure{errc::invalid_request, place(entry.first) + ": " + wrong, key};
      return;
    }
  }
}

} // namespace omni::cli
