#include "kernels/text/segmenter_marks.hpp"

#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <utf8proc.h>

namespace omni::text {
namespace {

using namespace std::string_view_literals;

constexpr std::array never_last = {
    U"dr"sv,   U"mr"sv,   U"mrs"sv, U"ms"sv,   U"prof"sv, U"st"sv,   U"rev"sv,  U"hon"sv,  U"gen"sv, U"col"sv,
    U"maj"sv,  U"capt"sv, U"lt"sv,  U"sgt"sv,  U"gov"sv,  U"sen"sv,  U"rep"sv,  U"pres"sv, U"mme"sv, U"mlle"sv,
    U"hr"sv,   U"fr"sv,   U"sra"sv, U"srta"sv, U"mt"sv,   U"vs"sv,   U"e.g"sv,  U"i.e"sv,  U"cf"sv,  U"approx"sv,
    U"fig"sv,  U"eq"sv,   U"vol"sv, U"pp"sv,   U"ca"sv,   U"viz"sv,  U"z.b"sv,  U"d.h"sv,  U"u.a"sv, U"bzw"sv,
    U"evtl"sv, U"ggf"sv,  U"vgl"sv, U"nr"sv,   U"str"sv,  U"p.ej"sv, U"dept"sv, U"univ"sv, U"est"sv};
constexpr std::array may_be_last = {U"etc"sv, U"al"sv,  U"inc"sv, U"ltd"sv, U"co"sv,  U"corp"sv, U"jr"sv,   U"sr"sv,
                                    U"a.m"sv, U"p.m"sv, U"jan"sv, U"feb"sv, U"apr"sv, U"aug"sv,  U"sept"sv, U"oct"sv,
                                    U"nov"sv, U"dec"sv, U"no"sv,  U"ave"sv, U"usw"sv, U"ph.d"sv, U"ft"sv};

template <class Table>
bool contains(const Table& table, std::u32string_view word) {
  return std::find(table.begin(), table.end(), word) != table.end();
}

bool is_upper(char32_t c) {
  const auto category = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return category == UTF8PROC_CATEGORY_LU || category == UTF8PROC_CATEGORY_LT;
}

bool is_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

/// The letters, digits and inner full stops before `dot`.
std::u32string_view word_before(std::u32string_view text, std::size_t dot) {
  auto first = dot;
  while (first > 0 && (is_word(text[first - 1]) || text[first - 1] == U'.')) --first;
  return text.substr(first, dot - first);
}

} // namespace

bool is_sentence_stop(char32_t c) {
  return c == U'.' || c == U'!' || c == U'?' ||
         (c != 0 && U"…。！？｡．‼⁇⁈⁉؟۔।॥"sv.find(c) != std::u32string_view::npos);
}

bool is_clause_mark(char32_t c) {
  return c == U',' || c == U';' || c == U':' || (c != 0 && U"，、；：､،؛"sv.find(c) != std::u32string_view::npos);
}

bool is_dash(char32_t c) { return c == U'–' || c == U'—'; }

bool is_wide_mark(char32_t c) { return c != 0 && U"。！？｡．，、；：､"sv.find(c) != std::u32string_view::npos; }

bool is_closing_mark(char32_t c) {
  return c != 0 && U"\"')]}”’»›」』】）］〉》"sv.find(c) != std::u32string_view::npos;
}

bool is_lower_case(char32_t c) { return utf8proc_category(static_cast<utf8proc_int32_t>(c)) == UTF8PROC_CATEGORY_LL; }

bool full_stop_ends_sentence(std::u32string_view text, std::size_t dot, char32_t next) {
  const auto word = word_before(text, dot);
  if (word.empty() || next == 0) return true;
  if (std::all_of(word.begin(), word.end(), is_digit)) return word.size() < dot; // else the number of a list item
  std::u32string lower;
  for (const char32_t c : word) lower += static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c)));
  if (contains(never_last, lower)) return false;
  if (contains(may_be_last, lower)) return is_upper(next);
  if (word.size() == 1) return !is_upper(word[0]) || word[0] == U'I'; // an initial
  // U.S., B.B.C.: single letters with full stops between them
  bool acronym = true;
  for (std::size_t i = 0; i < word.size(); ++i) acronym &= i % 2 == 0 ? is_letter(word[i]) : word[i] == U'.';
  return !acronym;
}

} // namespace omni::text
