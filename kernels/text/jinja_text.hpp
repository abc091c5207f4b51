#pragma once

#include "kernels/text/marked_text.hpp"

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

namespace omni::text::jinja {

/// Python's string operations on UTF-8. Positions and counts are characters unless they say bytes. What a function
/// takes apart or puts together keeps its marks.

/// What Python's str.isspace calls white space: Unicode White_Space and four separators.
bool is_python_space(char32_t code);

/// `text` without white space at its ends, and where the result begins.
std::string_view without_white_space(std::string_view text, bool left, bool right);

/// `text` without any of `characters` at its ends.
std::string_view without_characters(std::string_view text, std::string_view characters, bool left, bool right);

/// The marks for `part`, which points into `whole`.
marked_view part_of(marked_view whole, std::string_view part);

std::size_t count_characters(std::string_view text);
/// Byte at which character `index` starts; the size of `text` if it is shorter.
std::size_t byte_of_character(std::string_view text, std::size_t index);

/// Cuts at each `separator` (not empty), at most `limit` times, from the left or from the right; the parts in order.
std::vector<marked_view> split_at(marked_view text, std::string_view separator, std::size_t limit, bool from_right);
/// Cuts at runs of white space; no part is empty.
std::vector<marked_view> split_at_spaces(marked_view text, std::size_t limit, bool from_right);
/// Cuts at line ends (Python's list of them); the parts hold theirs if `keep_ends`.
std::vector<marked_view> split_lines(marked_view text, bool keep_ends);

/// `text` with up to `limit` places of `old` replaced; an empty `old` stands before each character and at the end.
marked_text replaced(marked_view text, std::string_view old, marked_view by, std::size_t limit);

/// How often `part` stands in `text` without overlap.
std::size_t count_of(std::string_view text, std::string_view part);

enum class letter_case : std::uint8_t { upper, lower };
/// `text` with every character in one case, the first ones of it: all, or only the first character.
marked_text in_case(marked_view text, letter_case to);
/// The first character upper, the others lower.
marked_text capitalized(marked_view text);
/// Each word's first letter upper, its others lower; words as Python's str.title sees them (runs of letters).
marked_text in_title_case(marked_view text);

} // namespace omni::text::jinja
