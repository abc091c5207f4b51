#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace omni::text {

/// A compiled regular expression of a tokenizer file. Immutable; any thread may search with its own `searcher`.
/// The dialect is Oniguruma's as far as tokenizers use it: Unicode classes, \s is White_Space, lookahead, (?i:...).
class regex {
public:
  /// Throws `load_error` naming `where` when the pattern is wrong or too large.
  regex(const std::string& pattern, const std::string& where);

  struct match {
    std::size_t begin;
    std::size_t end; // > begin: empty matches are not reported
  };

  /// Searches one text from left to right, in time linear in the text for any sane pattern: a pattern that backtracks
  /// without bound, or that looks far ahead to take little, ends in `input_error`.
  class searcher {
  public:
    /// `text` is valid UTF-8 and, like `expression`, outlives the searcher.
    searcher(const regex& expression, std::string_view text);
    ~searcher();
    searcher(searcher&&) noexcept;
    searcher(const searcher&) = delete;
    /// The leftmost match that begins at `from` or later.
    std::optional<match> next(std::size_t from);

  private:
    struct state;
    std::unique_ptr<state> state_;
  };

private:
  struct program;
  std::shared_ptr<const program> program_;
};

} // namespace omni::text
