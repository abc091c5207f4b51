#pragma once

#include "messages/errc.hpp"

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace omni::openai {

/// Keeps the order of members: what a template prints and what we answer depend on it.
using json = nlohmann::ordered_json;

/// Reads valid UTF-8 JSON, one object, nested at most 64 deep, at most 1024 members in one object (both checked before
/// anything is built). The failure is `invalid_request`, a sentence that begins with `name`.
expected<json> parse_object(std::string_view text, const std::string& name = "The request body");

/// A value as an error message shows it: its text, shortened, or what kind of thing it is.
std::string shown(const json& value);

/// One line of JSON; bytes that are not UTF-8 become U+FFFD.
std::string dump(const json& value);

} // namespace omni::openai
