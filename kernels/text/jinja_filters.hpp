#pragma once

#include "kernels/text/jinja_arguments.hpp"
#include "kernels/text/jinja_ast.hpp"

namespace omni::text::jinja {

/// The filter or test of this name, or null.
filter_function find_filter(std::string_view name);
test_function find_test(std::string_view name);

using filter_table = std::vector<std::pair<std::string_view, filter_function>>;
/// The parts of the table of filters: on text, on numbers and any value, on sequences.
const filter_table& text_filters();
const filter_table& value_filters();
const filter_table& sequence_filters();

/// The element of `of` at a dotted path like "function.name" or "0", as `map(attribute=...)` takes it.
value element_at_path(render_limits& limits, const value& of, const value& path);

} // namespace omni::text::jinja
