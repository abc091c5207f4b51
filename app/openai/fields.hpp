#pragma once

#include "app/openai/json.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omni::openai {

/// Reads the known fields of one JSON object and checks their types and ranges. Absent and null are the same: no value.
/// Of all that is wrong in a request the first thing is kept (in `problem`, shared by the readers of nested objects),
/// so that a caller reads every field and asks once at the end.
class fields {
public:
  /// `path` names the object in error messages, e.g. "messages[1]"; empty for the body. Both references must outlive
  /// this.
  fields(const json& object, std::string path, std::optional<failure>& problem);

  /// The value, or null if absent or null.
  [[nodiscard]] const json* find(std::string_view name) const;
  std::optional<bool> boolean(std::string_view name);
  /// A whole number in [low, high]; 3.0 counts as 3.
  std::optional<std::int64_t> integer(std::string_view name, std::int64_t low, std::int64_t high);
  /// A number in [low, high], or in (low, high] if `above_low`.
  std::optional<double> number(std::string_view name, double low, double high, bool above_low = false);
  std::optional<std::string> text(std::string_view name);
  /// One of `choices`.
  std::optional<std::string> choice(std::string_view name, const std::vector<std::string>& choices);
  const json* object(std::string_view name);
  /// A list of at most `most` items.
  const json* list(std::string_view name, std::size_t most);
  /// A list of whole numbers in [low, high].
  std::optional<std::vector<std::int32_t>> integers(std::string_view name, std::int32_t low, std::int32_t high,
                                                    std::size_t most);

  [[nodiscard]] std::string path_of(std::string_view name) const;
  /// Records that the field is wrong: "<path> <what>, found <value>."
  void refuse(std::string_view name, std::string_view what);
  /// Records a whole sentence about the field.
  void refuse_with(std::string_view name, std::string sentence, errc code = errc::invalid_request);
  [[nodiscard]] bool failed() const { return problem_.has_value(); }

private:
  const json& object_;
  std::string path_;
  std::optional<failure>& problem_;
};

} // namespace omni::openai
