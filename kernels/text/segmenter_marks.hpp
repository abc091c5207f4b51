#pragma once

#include <cstddef>
#include <string_view>

namespace omni::text {

/// Ends a sentence in some script: . ! ? ... and their relatives.
bool is_sentence_stop(char32_t c);
/// Separates clauses: , ; : and their relatives. Dashes are not among them.
bool is_clause_mark(char32_t c);
/// An en or em dash.
bool is_dash(char32_t c);
/// A mark of a script that writes no space after it.
bool is_wide_mark(char32_t c);
bool is_lower_case(char32_t c);
/// Closes a quotation or a bracket.
bool is_closing_mark(char32_t c);

/// Whether the full stop at `text[dot]` ends a sentence, judged by the word before it and by what follows the space
/// after it (`next`, 0 at the end of the text). Not after titles ("Dr."), initials ("J. R."), abbreviations ("e.g.")
/// and numbers that begin a line ("1. First"). Abbreviations that may stand last ("etc.", "a.m.") end one before a
/// capital letter.
bool full_stop_ends_sentence(std::u32string_view text, std::size_t dot, char32_t next);

} // namespace omni::text
