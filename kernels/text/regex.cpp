#include "kernels/text/regex.hpp"

#include "kernels/core/error.hpp"
#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <array>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

namespace omni::text {
namespace {

constexpr std::size_t max_pattern_bytes = 1 << 16;

/// PCRE2's \s also takes U+180E, which lost White_Space in Unicode 6.3; tokenizers follow the newer definition.
constexpr std::string_view white_space =
    R"(\x{9}-\x{d}\x{20}\x{85}\x{a0}\x{1680}\x{2000}-\x{200a}\x{2028}\x{2029}\x{202f}\x{205f}\x{3000})";

/// Replaces \s, and \S outside of a class, by what they mean for a tokenizer.
std::string with_unicode_white_space(std::string_view pattern) {
  std::string out;
  bool in_class = false;
  for (std::size_t i = 0; i < pattern.size(); ++i) {
    const char c = pattern[i];
    if (c == '\\' && i + 1 < pattern.size()) {
      const char escaped = pattern[++i];
      if (escaped == 's')
        out.append(in_class ? "" : "[").append(white_space).append(in_class ? "" : "]");
      else if (escaped == 'S' && !in_class)
        out.append("[^").append(white_space).append("]");
      else
        out.append({c, escaped});
      continue;
    }
    out += c;
    if (c == '[' && !in_class) {
      in_class = true;
      if (i + 1 < pattern.size() && pattern[i + 1] == '^') out += pattern[++i];
      if (i + 1 < pattern.size() && pattern[i + 1] == ']') out += pattern[++i];
    } else if (c == ']') {
      in_class = false;
    }
  }
  return out;
}

template <auto Free>
struct freed_by {
  template <class T>
  void operator()(T* object) const {
    Free(object);
  }
};

} // namespace

struct regex::program {
  std::unique_ptr<pcre2_code, freed_by<pcre2_code_free>> code;
};

regex::regex(const std::string& pattern, const std::string& where) {
  const auto refuse = [&](const std::string& reason) {
    throw load_error(where + ": the pre-tokenizer pattern cannot be used: " + reason + "; check the file.");
  };
  if (pattern.size() > max_pattern_bytes) refuse("it has more than " + std::to_string(max_pattern_bytes) + " bytes");
  if (!is_valid_utf8(pattern)) refuse("it is not valid UTF-8");
  const std::string translated = with_unicode_white_space(pattern);
  int error = 0;
  PCRE2_SIZE at = 0;
  auto made = std::make_shared<program>();
  made->code.reset(pcre2_compile(reinterpret_cast<PCRE2_SPTR>(translated.data()), translated.size(),
                                 PCRE2_UTF | PCRE2_UCP | PCRE2_MULTILINE | PCRE2_NEVER_BACKSLASH_C, &error, &at,
                                 nullptr));
  if (!made->code) {
    std::array<PCRE2_UCHAR, 256> message{};
    pcre2_get_error_message(error, message.data(), message.size());
    refuse(reinterpret_cast<const char*>(message.data()));
  }
  std::uint32_t back_references = 0;
  pcre2_pattern_info(made->code.get(), PCRE2_INFO_BACKREFMAX, &back_references);
  if (back_references > 0) refuse("it refers back to a group, which can take unbounded time");
  // Where executable memory is forbidden this fails and the interpreter serves: slower, the same matches.
  pcre2_jit_compile(made->code.get(), PCRE2_JIT_COMPLETE | PCRE2_JIT_PARTIAL_HARD);
  program_ = std::move(made);
}

struct regex::searcher::state {
  const program* expression;
  std::string_view text;
  std::unique_ptr<pcre2_match_data, freed_by<pcre2_match_data_free>> data;
  std::unique_ptr<pcre2_match_context, freed_by<pcre2_match_context_free>> limits;
  std::size_t looked_ahead = 0; // bytes scanned beyond the first windows

  [[noreturn]] static void give_up() {
    throw input_error("prompt", "This text takes too long with the model's pre-tokenizer pattern: shorten it.");
  }
};

regex::searcher::searcher(const regex& expression, std::string_view text) : state_(std::make_unique<state>()) {
  state_->expression = expression.program_.get();
  state_->text = text;
  state_->data.reset(pcre2_match_data_create(1, nullptr));
  state_->limits.reset(pcre2_match_context_create(nullptr));
  if (!state_->data || !state_->limits) throw std::bad_alloc();
}

regex::searcher::~searcher() = default;
regex::searcher::searcher(searcher&&) noexcept = default;

std::optional<regex::match> regex::searcher::next(std::size_t from) {
  // Each attempt sees only a window. A match that does not touch the window's end is the match in the whole text; else
  // the window grows. So the cost of one match is bounded by its own length, and what is scanned in vain is counted.
  constexpr std::size_t first_window = 256;
  constexpr std::size_t growth = 4;
  const std::string_view text = state_->text;
  for (std::size_t window = first_window; from < text.size(); window *= growth) {
    std::size_t end = std::min(text.size(), from + window);
    while (end < text.size() && !starts_character(text[end])) ++end;
    const bool whole = end == text.size();
    if (window > first_window) state_->looked_ahead += end - from;
    if (state_->looked_ahead > 64 * text.size()) state_->give_up();
    const std::uint32_t options = PCRE2_NO_UTF_CHECK | PCRE2_NOTEMPTY | (whole ? 0U : PCRE2_PARTIAL_HARD);
    pcre2_set_match_limit(state_->limits.get(),
                          static_cast<std::uint32_t>(std::min<std::size_t>(64 * (end - from), 1U << 30U) + 10000));
    const auto* subject = reinterpret_cast<PCRE2_SPTR>(text.data());
    const auto* code = state_->expression->code.get();
    int rc = pcre2_match(code, subject, end, from, options, state_->data.get(), state_->limits.get());
    if (rc == PCRE2_ERROR_JIT_STACKLIMIT)
      rc = pcre2_match(code, subject, end, from, options | PCRE2_NO_JIT, state_->data.get(), state_->limits.get());
    if (rc >= 0) {
      const PCRE2_SIZE* bounds = pcre2_get_ovector_pointer(state_->data.get());
      if (bounds[0] < from || bounds[1] <= bounds[0]) state_->give_up(); // \K can move the begin
      return match{bounds[0], bounds[1]};
    }
    if (rc != PCRE2_ERROR_NOMATCH && rc != PCRE2_ERROR_PARTIAL) state_->give_up();
    if (whole) return std::nullopt;
  }
  return std::nullopt;
}

} // namespace omni::text
