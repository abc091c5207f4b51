#pragma once

#include "kernels/text/regex.hpp"

#include <functional>
#include <string_view>
#include <variant>
#include <vector>

namespace omni::text {

/// Cuts text into the pieces inside which BPE works: a row of stages, each cutting further what the one before left.
/// Immutable once its stages are added.
class pre_tokenizer {
public:
  /// Which stretches of a regular expression's cut are kept: all, only the matches, or only what lies between.
  enum class keep { all, matches, gaps };
  void add_pattern(regex pattern, keep kept);
  /// Cuts at numeric characters (Nd, Nl, No): each alone if `individual`, else whole runs.
  void add_digits(bool individual);

  using sink = std::function<void(std::string_view piece)>;
  /// Gives each piece of `text` (valid UTF-8) to `out`, in order, none empty. Throws `input_error` when a pattern takes
  /// unreasonably long.
  void split(std::string_view text, const sink& out) const;

private:
  struct pattern_stage {
    regex pattern;
    keep kept;
  };
  struct digits_stage {
    bool individual;
  };
  void run(std::size_t stage, std::string_view text, const sink& out) const;
  std::vector<std::variant<pattern_stage, digits_stage>> stages_;
};

} // namespace omni::text
