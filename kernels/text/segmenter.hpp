#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace omni::text {

/// A piece of a text that is spoken in one breath.
struct spoken_segment {
  std::string text;
  bool ends_sentence = true; // else the sentence goes on in the next segment
};

/// Cuts the growing text of a running answer into sentences, as early as speech allows.
/// The first segment may be a clause of five words or more, so that speech can begin; later ones are sentences. A
/// sentence ends at its stop, with the quotes and brackets that close after it, but not at abbreviations, initials,
/// decimals or host names; a newline always ends one. Longer than `most_characters`, it is cut at a clause, else
/// between words. The segments depend on the text alone, never on how it came in pieces.
class segmenter {
public:
  /// Takes the next characters (whole ones, valid UTF-8); returns the segments that are certain now.
  std::vector<spoken_segment> push(std::string_view text);
  /// The text is over; returns the rest.
  std::vector<spoken_segment> finish();

  static constexpr std::size_t most_characters = 320;

private:
  enum class verdict : std::uint8_t { unknown, inside, ends };

  void scan();
  [[nodiscard]] verdict judge_stop(std::size_t& end) const;
  [[nodiscard]] verdict judge_clause(std::size_t& end) const;
  [[nodiscard]] verdict judge_bracket(std::size_t& end) const;
  [[nodiscard]] std::size_t forced_end() const;
  void emit(std::size_t end, bool ends_sentence);

  std::u32string pending_; // not cut off yet; white space is one space or newline
  std::size_t judged_ = 0; // characters before it end no segment
  bool first_ = true;      // nothing was given out yet
  bool over_ = false;
  std::vector<spoken_segment> ready_;
};

} // namespace omni::text
