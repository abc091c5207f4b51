#include "app/cli/yaml_sampling.hpp"

#include "app/cli/yaml_fields.hpp"
#include "app/openai/sampling_fields.hpp"

#include <limits>
#include <nlohmann/json.hpp>
#include <yaml-cpp/yaml.h>

namespace omni::cli {
namespace {

/// A scalar as JSON has it: what is quoted stays text.
openai::json to_json(const YAML::Node& node) {
  const std::string& text = node.Scalar();
  if (node.Tag() == "!") return text;
  std::int64_t whole = 0;
  double number = 0;
  bool truth = false;
  if (YAML::convert<std::int64_t>::decode(node, whole)) return whole;
  if (YAML::convert<double>::decode(node, number)) return number;
  if (YAML::convert<bool>::decode(node, truth)) return truth;
  return text;
}

} // namespace

void read_yaml_sampling(const YAML::Node& from, const std::string& where, std::optional<failure>& problem,
                        sampling_params& into) {
  yaml_fields names(from, where, "default_sampling_params", problem);
  openai::json values = openai::json::object();
  for (const char* name : {"temperature", "top_p", "top_k", "min_p", "repetition_penalty", "presence_penalty",
                           "frequency_penalty", "seed", "max_tokens", "min_tokens", "ignore_eos", "stop",
                           "stop_token_ids", "include_stop_str_in_output", "skip_special_tokens"}) {
    const YAML::Node value = names.find(name);
    if (!value.IsDefined()) continue;
    if (value.IsScalar()) {
      values[name] = to_json(value);
    } else if (value.IsSequence()) {
      values[name] = openai::json::array();
      for (const YAML::Node& each : value) values[name].push_back(each.IsScalar() ? to_json(each) : openai::json());
    } else {
      names.refuse(name, "must be a value or a list of values");
    }
  }
  names.refuse_unknown();
  if (problem) return;
  openai::fields checked(values, "", problem);
  openai::read_sampling(checked, std::numeric_limits<std::int32_t>::max(), into);
  if (problem) problem->message = names.place(from) + ": default_sampling_params: " + problem->message;
}

} // namespace omni::cli
