#include "kernels/text/phonemizer.hpp"

#include "kernels/core/check.hpp"
#include "kernels/text/utf8.hpp"

#include <cstdlib>
#include <utf8proc.h>

namespace omni::text {
namespace {

class character_phonemizer final : public phonemizer {
protected:
  void append(std::string_view text, std::vector<std::u32string>& sentences) const override {
    sentences.back() += decomposed(text);
  }
};

} // namespace

std::vector<std::u32string> phonemizer::phonemes(std::string_view text) const {
  std::vector<std::u32string> sentences(1);
  while (!text.empty()) {
    const auto open = text.find("[[");
    const auto close = open == std::string_view::npos ? open : text.find("]]", open + 2);
    if (close == std::string_view::npos) {
      append(text, sentences);
      break;
    }
    const auto separate = [&] {
      if (!sentences.back().empty() && sentences.back().back() != U' ') sentences.back() += U' ';
    };
    if (open > 0) append(text.substr(0, open), sentences);
    auto raw = text.substr(open + 2, close - open - 2);
    while (raw.starts_with(' ')) raw.remove_prefix(1);
    while (raw.ends_with(' ')) raw.remove_suffix(1);
    separate();
    sentences.back() += decomposed(raw);
    text.remove_prefix(close + 2);
    while (text.starts_with(' ')) text.remove_prefix(1);
    if (!text.empty() && std::string_view(".,!?;:").find(text.front()) == std::string_view::npos) separate();
  }
  std::erase_if(sentences, [](const std::u32string& sentence) {
    return sentence.find_first_not_of(U' ') == std::u32string::npos;
  });
  return sentences;
}

std::shared_ptr<const phonemizer> make_character_phonemizer() { return std::make_shared<character_phonemizer>(); }

std::u32string decomposed(std::string_view text) {
  utf8proc_uint8_t* bytes = nullptr;
  const auto size =
      utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()), static_cast<utf8proc_ssize_t>(text.size()),
                   &bytes, static_cast<utf8proc_option_t>(UTF8PROC_STABLE | UTF8PROC_DECOMPOSE));
  OMNI_CHECK(size >= 0, "text must be valid UTF-8 before it is decomposed");
  std::string_view rest(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  std::u32string characters;
  while (!rest.empty()) {
    const auto step = read_utf8(rest);
    characters += step.code;
    rest.remove_prefix(step.size);
  }
  std::free(bytes); // NOLINT: utf8proc allocates with malloc
  return characters;
}

} // namespace omni::text
