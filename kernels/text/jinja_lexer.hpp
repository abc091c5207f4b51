#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace omni::text::jinja {

/// A piece of a template.
struct token {
  enum class kind : std::uint8_t {
    data,        // text between tags, white space control already applied
    print_begin, // {{
    print_end,   // }}
    block_begin, // {%
    block_end,   // %}
    name,
    string, // `text` is unescaped
    integer,
    real,
    op, // punctuation: one of the operators, as written
    end,
  };
  kind what;
  std::string text;
  int line; // from 1
};

/// Cuts a template into tokens as Jinja does with trim_blocks and lstrip_blocks (the setting of chat templates): the
/// newline after a block tag goes away, so does the indentation before one. Comments and the tags of raw blocks vanish.
/// The last token is `end`. Throws `load_error` naming `where` and the line.
std::vector<token> tokenize(std::string_view source, const std::string& where);

} // namespace omni::text::jinja
