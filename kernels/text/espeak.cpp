#include "kernels/text/espeak.hpp"

#include "kernels/core/error.hpp"
#include "kernels/text/phonemizer.hpp"
#include "kernels/text/segmenter_marks.hpp"
#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <dlfcn.h>
#include <mutex>
#include <utility>

namespace omni::text {
namespace {

// From espeak-ng's speak_lib.h, version 1.51: the few names that are used here.
constexpr int audio_none = 2;       // AUDIO_OUTPUT_SYNCHRONOUS
constexpr int do_not_exit = 0x8000; // espeakINITIALIZE_DONT_EXIT
constexpr int characters_utf8 = 1;  // espeakCHARS_UTF8
constexpr int phonemes_ipa = 2;     // espeakPHONEMES_IPA
constexpr int terminator_mask = 0xFFFFF;
constexpr int ends_sentence_bit = 0x80000;

struct terminator {
  int value;
  char32_t mark;
};
// Pause, intonation and kind of clause, as the library packs them.
constexpr terminator terminators[] = {{40 | 0x80000, U'.'},          {20 | 0x1000 | 0x40000, U','},
                                      {40 | 0x2000 | 0x80000, U'?'}, {45 | 0x3000 | 0x80000, U'!'},
                                      {30 | 0x40000, U':'},          {30 | 0x1000 | 0x40000, U';'}};

struct library_closer {
  void operator()(void* handle) const { ::dlclose(handle); }
};

/// The mark of another script as one of . ? ! , : ;
char32_t plain_mark(char32_t c) {
  switch (c) {
  case U'？':
  case U'؟':
  case U'⁇':
    return U'?';
  case U'！':
  case U'‼':
    return U'!';
  case U'：':
    return U':';
  case U'；':
  case U'؛':
    return U';';
  case U'，':
  case U'、':
  case U'､':
  case U'،':
    return U',';
  case U'⁈':
  case U'⁉':
    return U'?';
  default:
    return is_sentence_stop(c) && c != U'?' && c != U'!' ? U'.' : c;
  }
}

/// The mark that ended a clause of which the library says no more than how far it read: it reads up to three characters
/// past the mark. 0 when the clause ended for another reason, or at the stop of an abbreviation.
char32_t mark_before(std::u32string_view text, std::size_t begin, std::size_t end) {
  constexpr std::size_t read_ahead = 4;
  for (auto i = end; i > begin && end - i < read_ahead; --i) {
    const char32_t c = text[i - 1];
    if (!is_sentence_stop(c) && !is_clause_mark(c)) continue;
    const bool inside = i < text.size() && (is_letter(text[i]) || is_numeric(text[i])) && !is_wide_mark(c);
    if (inside) continue; // 3.14, 10:30
    auto next = i;
    while (next < text.size() && (text[next] == U' ' || is_closing_mark(text[next]))) ++next;
    if (c == U'.' && !full_stop_ends_sentence(text, i - 1, next < text.size() ? text[next] : 0)) return 0;
    return plain_mark(c);
  }
  return 0;
}

} // namespace

struct espeak::state {
  std::mutex mutex; // guards the library, whose calls change its variables
  std::unique_ptr<void, library_closer> handle;
  int (*initialize)(int, int, const char*, int) = nullptr;
  int (*set_voice)(const char*) = nullptr;
  const char* (*to_phonemes)(const void**, int, int) = nullptr;
  const char* (*to_phonemes_with_terminator)(const void**, int, int, int*) = nullptr; // from version 1.52 on, else null
  int (*terminate)() = nullptr;
  std::string voice; // the current one

  template <class Function>
  bool find(const char* name, Function& function) {
    function = reinterpret_cast<Function>(::dlsym(handle.get(), name)); // NOLINT: as dlsym(3) says
    return function != nullptr;
  }
  bool select(const std::string& wanted) {
    if (voice == wanted) return true;
    if (set_voice(wanted.c_str()) != 0) return false;
    voice = wanted;
    return true;
  }
};

espeak::espeak(std::unique_ptr<state> library) : state_(std::move(library)) {}

espeak::~espeak() { state_->terminate(); }

std::shared_ptr<espeak> espeak::open() {
  // One per process, as the class says; gone with the last voice that uses it.
  static std::mutex mutex;
  static std::weak_ptr<espeak> current;
  const std::lock_guard lock(mutex);
  if (auto open_already = current.lock()) return open_already;
  constexpr const char* name = "libespeak-ng.so.1";
  auto library = std::make_unique<state>();
  library->handle.reset(::dlopen(name, RTLD_NOW | RTLD_LOCAL));
  if (!library->handle)
    throw load_error(std::string(name) + ": cannot be loaded, but this voice needs it to turn text into phonemes: " +
                     "install the Debian package libespeak-ng1.");
  if (!library->find("espeak_Initialize", library->initialize) ||
      !library->find("espeak_SetVoiceByName", library->set_voice) ||
      !library->find("espeak_TextToPhonemes", library->to_phonemes) ||
      !library->find("espeak_Terminate", library->terminate))
    throw load_error(std::string(name) + ": lacks functions of espeak-ng 1.51 or later: install the Debian package " +
                     "libespeak-ng1.");
  library->find("espeak_TextToPhonemesWithTerminator", library->to_phonemes_with_terminator);
  if (library->initialize(audio_none, 0, nullptr, do_not_exit) < 0)
    throw load_error(std::string(name) + ": finds no data of its languages: install the Debian package " +
                     "espeak-ng-data.");
  std::shared_ptr<espeak> opened(new espeak(std::move(library)));
  current = opened;
  return opened;
}

void espeak::check_voice(const std::string& voice) {
  const std::lock_guard lock(state_->mutex);
  if (!state_->select(voice))
    throw load_error("libespeak-ng.so.1: has no voice \"" + voice +
                     "\", which this model needs: install the Debian package espeak-ng-data.");
}

std::vector<espeak_clause> espeak::clauses(const std::string& voice, std::string_view text) {
  // The library reads until a zero byte.
  std::string bytes(text.substr(0, text.find('\0')));
  std::u32string characters;
  std::vector<std::size_t> offsets; // byte offset of each character
  for (std::string_view rest = bytes; !rest.empty();) {
    const auto step = read_utf8(rest);
    offsets.push_back(bytes.size() - rest.size());
    characters += step.code;
    rest.remove_prefix(step.size);
  }
  const auto character_at = [&](const void* place) {
    if (place == nullptr) return characters.size();
    const auto offset = static_cast<std::size_t>(static_cast<const char*>(place) - bytes.data());
    return static_cast<std::size_t>(std::lower_bound(offsets.begin(), offsets.end(), offset) - offsets.begin());
  };

  std::vector<espeak_clause> found;
  const std::lock_guard lock(state_->mutex);
  state_->select(voice);
  const void* place = bytes.c_str();
  const auto most_clauses = characters.size() + 2; // each but the last reads on; a library that does not is stopped
  for (std::size_t count = 0; place != nullptr && count < most_clauses; ++count) {
    const auto begin = character_at(place);
    espeak_clause clause;
    if (state_->to_phonemes_with_terminator != nullptr) {
      int end = 0;
      if (const char* p = state_->to_phonemes_with_terminator(&place, characters_utf8, phonemes_ipa, &end))
        clause.phonemes = p;
      for (const auto& known : terminators)
        if ((end & terminator_mask) == known.value) clause.mark = known.mark;
      clause.ends_sentence = (end & ends_sentence_bit) != 0;
    } else {
      if (const char* p = state_->to_phonemes(&place, characters_utf8, phonemes_ipa)) clause.phonemes = p;
      clause.mark = mark_before(characters, begin, character_at(place));
      clause.ends_sentence = clause.mark == U'.' || clause.mark == U'?' || clause.mark == U'!';
    }
    found.push_back(std::move(clause));
  }
  return found;
}

namespace {

/// Drops "(en)", by which the library marks words of another language.
std::string without_language_marks(std::string_view phonemes) {
  std::string kept;
  while (!phonemes.empty()) {
    const auto open = phonemes.find('(');
    const auto close = open == std::string_view::npos ? open : phonemes.find(')', open);
    kept += phonemes.substr(0, close == std::string_view::npos ? phonemes.size() : open);
    phonemes.remove_prefix(close == std::string_view::npos ? phonemes.size() : close + 1);
  }
  return kept;
}

class espeak_phonemizer final : public phonemizer {
public:
  espeak_phonemizer(std::shared_ptr<espeak> library, std::string voice)
      : library_(std::move(library)), voice_(std::move(voice)) {}

protected:
  void append(std::string_view text, std::vector<std::u32string>& sentences) const override {
    for (const auto& clause : library_->clauses(voice_, text)) {
      const auto add = [&](char32_t c) {
        auto& sentence = sentences.back();
        if (c != U' ' || (!sentence.empty() && sentence.back() != U' ')) sentence += c;
      };
      for (const char32_t c : decomposed(without_language_marks(clause.phonemes))) add(c == U'\n' ? U' ' : c);
      auto& sentence = sentences.back();
      if (sentence.empty()) continue; // a mark alone says nothing
      if (clause.mark != 0) {
        if (sentence.back() == U' ') sentence.pop_back();
        sentence += clause.mark;
      }
      if (clause.ends_sentence)
        sentences.emplace_back();
      else
        add(U' ');
    }
    while (sentences.back().ends_with(U' ')) sentences.back().pop_back();
  }

private:
  std::shared_ptr<espeak> library_;
  std::string voice_;
};

} // namespace

std::shared_ptr<const phonemizer> load_espeak_phonemizer(const std::string& voice) {
  auto library = espeak::open();
  library->check_voice(voice);
  return std::make_shared<espeak_phonemizer>(std::move(library), voice);
}

} // namespace omni::text
