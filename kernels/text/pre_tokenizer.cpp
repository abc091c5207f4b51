#include "kernels/text/pre_tokenizer.hpp"

#include "kernels/text/utf8.hpp"

namespace omni::text {
namespace {

void cut_at_matches(const regex& pattern, pre_tokenizer::keep kept, std::string_view text,
                    const pre_tokenizer::sink& out) {
  using keep = pre_tokenizer::keep;
  regex::searcher search(pattern, text);
  std::size_t done = 0;
  while (const auto found = search.next(done)) {
    if (found->begin > done && kept != keep::matches) out(text.substr(done, found->begin - done));
    if (kept != keep::gaps) out(text.substr(found->begin, found->end - found->begin));
    done = found->end;
  }
  if (done < text.size() && kept != keep::matches) out(text.substr(done));
}

void cut_at_digits(bool individual, std::string_view text, const pre_tokenizer::sink& out) {
  std::size_t begin = 0;
  bool in_digits = false;
  for (std::size_t at = 0; at < text.size();) {
    const utf8_step step = read_utf8(text.substr(at));
    const bool digit = is_numeric(step.code);
    if (at > begin && (digit != in_digits || (digit && individual))) {
      out(text.substr(begin, at - begin));
      begin = at;
    }
    in_digits = digit;
    at += step.size;
  }
  if (begin < text.size()) out(text.substr(begin));
}

} // namespace

void pre_tokenizer::add_pattern(regex pattern, keep kept) {
  stages_.emplace_back(pattern_stage{std::move(pattern), kept});
}

void pre_tokenizer::add_digits(bool individual) { stages_.emplace_back(digits_stage{individual}); }

void pre_tokenizer::split(std::string_view text, const sink& out) const {
  if (!text.empty()) run(0, text, out);
}

void pre_tokenizer::run(std::size_t stage, std::string_view text, const sink& out) const {
  if (stage == stages_.size()) {
    out(text);
    return;
  }
  const bool last = stage + 1 == stages_.size();
  const sink next = last ? sink() : [&, stage](std::string_view piece) { run(stage + 1, piece, out); };
  const sink& target = last ? out : next;
  if (const auto* pattern = std::get_if<pattern_stage>(&stages_[stage]))
    cut_at_matches(pattern->pattern, pattern->kept, text, target);
  else
    cut_at_digits(std::get<digits_stage>(stages_[stage]).individual, text, target);
}

} // namespace omni::text
