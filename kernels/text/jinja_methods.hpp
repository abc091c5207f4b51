#pragma once

#include "kernels/text/jinja_arguments.hpp"

namespace omni::text::jinja {

/// Whether a value of this type has a method of this name, as in `text.strip`. Methods that would change a value are
/// not among them: Jinja's sandbox forbids them too.
bool has_method(const value& self, std::string_view name);

value call_method(render_limits& limits, const method_data& method, const arguments& given);

} // namespace omni::text::jinja
