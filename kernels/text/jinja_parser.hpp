#pragma once

#include "kernels/text/jinja_ast.hpp"

#include <string_view>

namespace omni::text::jinja {

/// Parses a chat template. Throws `load_error` naming `where` and the line when it is wrong, nested too deeply or uses
/// a statement that chat templates have no use for.
block parse(std::string_view source, const std::string& where);

} // namespace omni::text::jinja
