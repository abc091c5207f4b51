#pragma once

#include "app/http/message.hpp"
#include "app/openai/json.hpp"
#include "messages/errc.hpp"

#include <string_view>

namespace omni::openai {

/// The HTTP status that stands for an error code.
int status_of(errc code);

/// {"error": {"message", "type", "param", "code"}}.
json error_object(const failure& problem);

/// A whole answer: status, error object, Retry-After where trying again can help.
http::response error_response(const failure& problem);

/// What the HTTP server itself refuses, in the same form.
http::response error_page(int status, std::string_view sentence);

} // namespace omni::openai
