#include "kernels/text/segmenter.hpp"

#include "kernels/text/segmenter_marks.hpp"
#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <utility>

namespace omni::text {
namespace {

constexpr std::size_t words_of_a_first_clause = 5;

bool is_space(char32_t c) { return c == U' ' || c == U'\n'; }

bool is_wide_letter(char32_t c) { // scripts without spaces between words
  return (c >= 0x3040 && c <= 0x30FF) || (c >= 0x3400 && c <= 0x9FFF) || (c >= 0xF900 && c <= 0xFAFF) ||
         (c >= 0x20000 && c <= 0x3FFFF);
}

/// Words of a text; two characters of a script without spaces count as one.
std::size_t count_words(std::u32string_view text) {
  std::size_t words = 0;
  std::size_t wide = 0;
  bool inside = false;
  for (const char32_t c : text) {
    if (is_wide_letter(c)) ++wide;
    const bool part = is_word(c) && !is_wide_letter(c);
    if (part && !inside) ++words;
    inside = part || (inside && (c == U'\'' || c == U'’' || c == U'-'));
  }
  return words + wide / 2;
}

std::string to_utf8(std::u32string_view text) {
  std::string bytes;
  for (const char32_t c : text) append_utf8(bytes, c);
  return bytes;
}

std::u32string_view trimmed(std::u32string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

} // namespace

std::vector<spoken_segment> segmenter::push(std::string_view text) {
  while (!text.empty()) {
    const auto step = read_utf8(text);
    text.remove_prefix(step.size);
    char32_t c = step.code;
    if (is_white_space(c) && c != U'\n') c = U' ';
    // A run of white space counts as its newline, else as one space; at the start it does not count.
    if (is_space(c) && pending_.empty()) continue;
    if (is_space(c) && is_space(pending_.back())) {
      if (c != U'\n') continue;
      pending_.back() = c;
      judged_ = std::min(judged_, pending_.size() - 1);
    } else {
      pending_ += c;
    }
    scan();
  }
  return std::exchange(ready_, {});
}

std::vector<spoken_segment> segmenter::finish() {
  over_ = true;
  scan();
  emit(pending_.size(), true);
  return std::exchange(ready_, {});
}

/// Judges characters as far as those that follow allow. Called for each new character, so what it sees, and with it the
/// outcome, does not depend on how the text was cut.
void segmenter::scan() {
  while (judged_ < pending_.size()) {
    const char32_t c = pending_[judged_];
    std::size_t end = judged_ + 1;
    auto found = verdict::inside;
    bool ends_sentence = true;
    if (c == U'\n') {
      found = verdict::ends;
    } else if (is_sentence_stop(c)) {
      found = judge_stop(end);
    } else if (first_ && (is_clause_mark(c) || is_dash(c))) {
      found = judge_clause(end);
      ends_sentence = false;
    } else if (c == U'[') {
      found = judge_bracket(end);
    }
    if (found == verdict::unknown && pending_.size() < 2 * most_characters) return;
    if (found == verdict::ends)
      emit(end, ends_sentence);
    else
      judged_ = end;
    if (judged_ > most_characters) emit(forced_end(), false);
  }
}

/// A stop at `judged_`; `end` becomes the position after it, the stops beside it and what closes after them.
segmenter::verdict segmenter::judge_stop(std::size_t& end) const {
  const auto skip = [&](auto what) {
    while (end < pending_.size() && what(pending_[end])) ++end;
  };
  skip(is_sentence_stop);
  const bool single = end == judged_ + 1;
  const char32_t last = pending_[end - 1];
  const auto after_stops = end;
  skip(is_closing_mark);
  if (over_ && end == pending_.size()) return verdict::ends;
  if (end == pending_.size()) return verdict::unknown; // more may close here
  if (is_wide_mark(last)) return verdict::ends;
  if (!is_space(pending_[end])) return verdict::inside; // 3.14, example.com
  if (pending_[end] == U'\n') return verdict::ends;
  if (end + 1 == pending_.size() && !over_) return verdict::unknown;
  const char32_t next = end + 1 < pending_.size() ? pending_[end + 1] : 0;
  if (single && last == U'.' && !full_stop_ends_sentence(pending_, judged_, next)) return verdict::inside;
  // "Stop!" he said; wait... what
  const bool trails_off = last == U'…' || (last == U'.' && !single);
  if ((trails_off || end > after_stops) && is_lower_case(next)) return verdict::inside;
  return verdict::ends;
}

segmenter::verdict segmenter::judge_clause(std::size_t& end) const {
  const bool wide = is_wide_mark(pending_[judged_]);
  if (!wide && end == pending_.size()) return verdict::unknown;
  const bool separates = wide || pending_[end] == U' ' || pending_[judged_] == U'—';
  const auto words = count_words(std::u32string_view(pending_).substr(0, judged_));
  return separates && words >= words_of_a_first_clause ? verdict::ends : verdict::inside;
}

/// "[[ phonemes ]]" stay together, whatever marks they have.
segmenter::verdict segmenter::judge_bracket(std::size_t& end) const {
  if (end == pending_.size()) return over_ ? verdict::inside : verdict::unknown;
  if (pending_[end] != U'[') return verdict::inside;
  const auto close = pending_.find(U"]]", end + 1);
  if (close != std::u32string::npos) end = close + 2;
  return close != std::u32string::npos || over_ ? verdict::inside : verdict::unknown;
}

/// Where to cut a text that has no end in sight: after a clause, else between words, else anywhere.
std::size_t segmenter::forced_end() const {
  std::size_t word = 0;
  for (auto i = most_characters; i > most_characters / 3; --i) {
    if (pending_[i] != U' ' && !is_wide_mark(pending_[i - 1])) continue;
    if (is_clause_mark(pending_[i - 1]) || is_dash(pending_[i - 1])) return i;
    word = std::max(word, i);
  }
  return word > 0 ? word : most_characters;
}

void segmenter::emit(std::size_t end, bool ends_sentence) {
  const auto piece = trimmed(std::u32string_view(pending_).substr(0, end));
  if (std::any_of(piece.begin(), piece.end(), [](char32_t c) { return is_word(c) || is_numeric(c); })) {
    // A heading or list item sounds cut off without a stop.
    const bool bare = ends_sentence && (is_word(piece.back()) || is_numeric(piece.back()));
    ready_.push_back({to_utf8(piece) + (bare ? "." : ""), ends_sentence});
    first_ = false;
  }
  while (end < pending_.size() && is_space(pending_[end])) ++end;
  pending_.erase(0, end);
  judged_ = 0;
}

} // namespace omni::text
