#pragma once

#include "app/http/message.hpp"

#include <string>
#include <vector>

namespace omni::http {

/// The headers that let pages of `origin` read an answer, if `allowed` holds it or "*"; nothing otherwise.
void add_cors_headers(const std::vector<std::string>& allowed, const std::string& origin, std::vector<header>& to);

/// What a browser asks with OPTIONS before it sends a request with a body or a key.
void add_preflight_headers(const std::vector<std::string>& allowed, const request& asked, const std::string& methods,
                           std::vector<header>& to);

} // namespace omni::http
