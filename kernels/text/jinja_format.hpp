#pragma once

#include "kernels/text/jinja_arguments.hpp"

namespace omni::text::jinja {

/// `pattern % values` as in Python: %s %r %d %i %f %x and %%, with flags, width and precision. `values` is one value or
/// a tuple.
value format_percent(render_limits& limits, marked_view pattern, const value& values);

/// `pattern.format(...)` with {}, {0} and {name}.
value format_braces(render_limits& limits, marked_view pattern, const arguments& given);

/// `text` with `old` replaced by `by`, at most `count` times if it is not negative.
value replace_text(render_limits& limits, marked_view text, marked_view old, marked_view by, std::int64_t count);

} // namespace omni::text::jinja
