#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omni::cli {

/// The one of `known` that `given` was probably meant to be: fewest edits, at most a third of its length; nothing if
/// none is near.
std::optional<std::string> nearest(std::string_view given, const std::vector<std::string>& known);

} // namespace omni::cli
