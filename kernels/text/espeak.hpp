#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace omni::text {

/// What espeak-ng makes of one clause.
struct espeak_clause {
  std::string phonemes; // IPA, UTF-8
  char32_t mark = 0;    // the mark that ended it, one of . ? ! , : ; or 0
  bool ends_sentence = false;
};

/// The shared library of espeak-ng, opened at run time so that nothing links to it: it is under the GPL-3.
///
/// It keeps the current voice and the text it reads in variables of its own, so there is one per process, which all
/// voices that are loaded hold together, and a mutex lets one caller in at a time. This is the one place in `kernels/`
/// where the process has such a state; it belongs to the library, not to us.
class espeak {
public:
  /// Throws `load_error` when the library cannot be loaded.
  static std::shared_ptr<espeak> open();
  ~espeak();
  espeak(const espeak&) = delete;
  espeak& operator=(const espeak&) = delete;

  /// Throws `load_error` when there is no such voice.
  void check_voice(const std::string& voice);
  /// The clauses of `text`, which is valid UTF-8.
  std::vector<espeak_clause> clauses(const std::string& voice, std::string_view text);

private:
  struct state;
  explicit espeak(std::unique_ptr<state> library);
  std::unique_ptr<state> state_;
};

} // namespace omni::text
