#pragma once

#include "app/http/message.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace omni::http {

/// Splits a request target ("/a%20b?c=d", "http://host/a", "*") into decoded path and raw query; false if it is none of
/// these.
bool split_target(std::string_view target, std::string& path, std::string& query);

/// Status line, `headers` and Date, up to and with the empty line. Headers whose value holds a control character are
/// left out.
std::string write_head(int status, const std::vector<header>& headers);

/// Appends one piece of a body, as a chunk if `chunked`.
void add_chunk(std::string_view piece, bool chunked, std::string& out);

} // namespace omni::http
