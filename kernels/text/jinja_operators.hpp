#pragma once

#include "kernels/text/jinja_ast.hpp"

namespace omni::text::jinja {

/// Python's operators; errors for types that do not go together, for division by zero, and for integers beyond 64 bits.
value add(render_limits& limits, const value& a, const value& b);
value apply(render_limits& limits, unary_op op, const value& of);
/// Any operator but the two logical ones, which do not always evaluate both sides.
value apply(render_limits& limits, binary_op op, const value& a, const value& b);
bool compare(render_limits& limits, compare_op op, const value& a, const value& b);
/// `of[start:stop:step]`; None or undefined stands for an absent part.
value slice_of(render_limits& limits, const value& of, const value& start, const value& stop, const value& step);

} // namespace omni::text::jinja
