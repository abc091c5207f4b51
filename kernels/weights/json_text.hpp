#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace omni {

/// Parses JSON that came with a checkpoint. Throws `load_error` when it is no JSON, larger than 16 MiB or nested deeper
/// than 64.
nlohmann::json parse_json(std::string_view text, const std::string& where);

} // namespace omni
