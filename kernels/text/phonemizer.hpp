#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace omni::text {

/// Turns text into phonemes. Any thread may use it.
class phonemizer {
public:
  virtual ~phonemizer() = default;
  /// The phonemes of `text` (valid UTF-8), one string of characters for each sentence, canonically decomposed (NFD),
  /// with the marks . ? ! , : ; that shape speech. "[[ ... ]]" is taken as phonemes already.
  [[nodiscard]] std::vector<std::u32string> phonemes(std::string_view text) const;

protected:
  /// Adds the phonemes of text without "[[": to the last sentence, and to new ones after each end of a sentence.
  /// An empty last sentence means that the one before it has ended.
  virtual void append(std::string_view text, std::vector<std::u32string>& sentences) const = 0;
};

/// By espeak-ng, which is loaded when it is first asked for. `voice` is its name of a language ("en-us"). Throws
/// `load_error` when the library or the voice is missing.
std::shared_ptr<const phonemizer> load_espeak_phonemizer(const std::string& voice);

/// For voices that were trained on characters: the text is its phonemes.
std::shared_ptr<const phonemizer> make_character_phonemizer();

/// Canonical decomposition (NFD) of valid UTF-8.
std::u32string decomposed(std::string_view text);

} // namespace omni::text
