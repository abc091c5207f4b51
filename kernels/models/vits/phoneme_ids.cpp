#include "kernels/models/vits/phoneme_ids.hpp"

#include "kernels/text/utf8.hpp"

#include <algorithm>
#include <utf8proc.h>

namespace omni::vits {
namespace {

std::u32string replaced(const voice_config& voice, std::u32string_view phonemes) {
  std::u32string out;
  for (const char32_t c : phonemes) {
    const auto found = voice.replacements.find(c);
    if (found == voice.replacements.end())
      out += c;
    else
      out += found->second;
  }
  return out;
}

/// The longest phoneme of the voice that `rest` begins with; end() if it knows none.
auto longest_match(const voice_config& voice, std::u32string_view rest) {
  for (auto size = std::min(voice.longest_phoneme, rest.size()); size > 0; --size)
    if (const auto found = voice.ids.find(std::u32string(rest.substr(0, size))); found != voice.ids.end()) return found;
  return voice.ids.end();
}

} // namespace

std::vector<std::int64_t> phoneme_ids(const voice_config& voice, std::u32string_view phonemes) {
  const auto text = replaced(voice, phonemes);
  const auto& pad = voice.ids.at(U"_");
  std::vector<std::int64_t> ids;
  const auto add = [&](const std::vector<std::int64_t>& more) { ids.insert(ids.end(), more.begin(), more.end()); };
  add(voice.ids.at(U"^"));
  add(pad);
  bool says_something = false;
  for (std::u32string_view rest = text; !rest.empty();) {
    auto found = longest_match(voice, rest);
    if (found == voice.ids.end() && voice.source == phoneme_source::text) {
      const auto lower = utf8proc_tolower(static_cast<utf8proc_int32_t>(rest.front()));
      found = voice.ids.find(std::u32string(1, static_cast<char32_t>(lower)));
    }
    if (found == voice.ids.end()) {
      rest.remove_prefix(1);
      continue;
    }
    add(found->second);
    add(pad);
    says_something |= text::is_letter(rest.front()) || text::is_numeric(rest.front());
    rest.remove_prefix(found->first.size());
  }
  if (!says_something) return {};
  add(voice.ids.at(U"$"));
  return ids;
}

std::vector<std::u32string_view> split_phonemes(std::u32string_view phonemes, std::size_t most) {
  std::vector<std::u32string_view> pieces;
  while (phonemes.size() > most) {
    auto end = phonemes.rfind(U' ', most);
    if (end == std::u32string_view::npos || end < most / 2) end = most;
    pieces.push_back(phonemes.substr(0, end));
    phonemes.remove_prefix(end);
    while (phonemes.starts_with(U' ')) phonemes.remove_prefix(1);
  }
  if (!phonemes.empty()) pieces.push_back(phonemes);
  return pieces;
}

} // namespace omni::vits
