#pragma once

#include <optional>
#include <string_view>

namespace omni::text {

/// Pictures, their modifiers and joiners, and characters without a glyph: nobody says them.
bool is_silent(char32_t c);
bool is_arrow(char32_t c);
bool is_currency(char32_t c);

/// The character of an HTML entity without its & and ;: "amp", "#39", "#x27".
std::optional<char32_t> decode_entity(std::u32string_view name);

/// "www.example.com:80/path" -> "example.com".
std::u32string_view host_of(std::u32string_view address);

} // namespace omni::text
