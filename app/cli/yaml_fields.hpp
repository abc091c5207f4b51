#pragma once

#include "messages/errc.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>
#include <yaml-cpp/node/node.h>

namespace omni::cli {

/// Reads the known keys of one YAML mapping, checks types and ranges, and at the end refuses what is unknown. Of all
/// that is wrong the first thing is kept, with file and line.
class yaml_fields {
public:
  /// `where` names the source in sentences, e.g. "pipeline.yaml"; `what` names the mapping, e.g. "stage 1".
  yaml_fields(YAML::Node mapping, std::string where, std::string what, std::optional<failure>& problem);

  /// The value, or an undefined node if absent or null.
  YAML::Node find(const std::string& key);
  void read(const std::string& key, std::string& into);
  void read(const std::string& key, bool& into);
  void read(const std::string& key, std::int32_t& into, std::int32_t low, std::int32_t high);
  void read(const std::string& key, std::int64_t& into, std::int64_t low, std::int64_t high);
  void read(const std::string& key, double& into, double low, double high);
  /// Records that the value is wrong: "<where> line n: <key> <wanted>, found ...".
  void refuse(const std::string& key, const std::string& wanted);
  /// Refuses keys that were never asked for, naming the nearest that was, and keys that come twice.
  void refuse_unknown();

  [[nodiscard]] bool failed() const { return problem_.has_value(); }
  /// "<where> line n", of a node.
  [[nodiscard]] std::string place(const YAML::Node& node) const;

private:
  template <class T>
  void read_whole(const std::string& key, T& into, std::int64_t low, std::int64_t high);

  YAML::Node mapping_;
  std::string where_;
  std::string what_;
  std::optional<failure>& problem_;
  std::vector<std::string> known_;
};

} // namespace omni::cli
