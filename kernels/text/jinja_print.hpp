#pragma once

#include "kernels/text/jinja_value.hpp"

namespace omni::text::jinja {

/// Appends what printing the value gives: Python's str().
void append_str(render_limits& limits, marked_text& out, const value& of);
/// str() as a value; a string is itself.
text_ref to_text(render_limits& limits, const value& of);
/// Appends Python's repr().
void append_repr(render_limits& limits, marked_text& out, const value& of);

/// How `tojson` writes, with the meaning of Python's json.dumps.
struct json_style {
  std::optional<std::string> indent; // of one level; absent: all on one line
  std::string item_separator = ", ";
  std::string key_separator = ": ";
  bool ensure_ascii = false;
  bool sort_keys = false;
};
void append_json(render_limits& limits, marked_text& out, const value& of, const json_style& style);

/// Python's repr of a float: the shortest digits that read back the same.
std::string float_text(double of);

} // namespace omni::text::jinja
