#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace omni::text {

/// Ends a text at the first stop string, wherever the borders of its pieces fall. Holds back only what may still become
/// a stop string, so none is ever half emitted. The first stop string to be complete wins; of several that end at the
/// same byte, the longest.
class stop_matcher {
public:
  /// Empty stop strings are ignored. `include_stop`: the stop string itself is part of the text.
  stop_matcher(std::vector<std::string> stops, bool include_stop);

  struct result {
    std::string text;        // safe to send
    bool stopped = false;    // nothing may follow; `text` ends before (or with) the stop string
    std::int32_t which = -1; // index of the stop string among those given
  };
  /// Takes the next piece: whole characters, as a detokenizer gives them. Time is the piece's length times the number
  /// of stop strings.
  result push(std::string_view piece);
  /// The end of the text: what was held back.
  std::string flush();

private:
  struct pattern {
    std::string text;
    std::vector<std::size_t> fallback; // [i]: longest proper prefix of text[0..i] that ends it (Knuth, Morris, Pratt)
    std::int32_t index;
    std::size_t matched = 0; // bytes of `text` that end what was pushed so far
  };
  static bool advance(pattern& stop, char byte);

  std::vector<pattern> stops_; // the longest first
  bool include_stop_;
  bool stopped_ = false;
  std::string held_; // pushed, not yet given out
};

} // namespace omni::text
