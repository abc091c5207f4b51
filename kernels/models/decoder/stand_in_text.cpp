#include "kernels/models/decoder/stand_in_text.hpp"

#include "kernels/models/decoder/chat_ml.hpp"
#include "kernels/text/byte_alphabet.hpp"
#include "kernels/text/pre_patterns.hpp"
#include "kernels/weights/reject.hpp"

#include <algorithm>

namespace omni {
namespace {

constexpr std::size_t fewest_bytes = 96; // printable ASCII and the end of a line

/// Bytes in the order in which a small vocabulary takes them.
std::string all_bytes() {
  std::string bytes = "\n";
  for (int b = ' '; b < 0x7f; ++b) bytes += static_cast<char>(b);
  for (int b = 0; b < 256; ++b)
    if (bytes.find(static_cast<char>(b)) == std::string::npos) bytes += static_cast<char>(b);
  return bytes;
}

/// Gives every token an id; returns which ids are taken.
std::vector<bool> number(stand_in_tokens& wanted, const std::string& where) {
  const auto tokens = wanted.special.size() + wanted.words.size();
  if (static_cast<std::size_t>(wanted.vocab) < tokens + fewest_bytes)
    reject(where, "without a tokenizer.json the vocabulary must hold at least " +
                      std::to_string(tokens + fewest_bytes) + " tokens, found " + std::to_string(wanted.vocab));
  std::vector<bool> taken(static_cast<std::size_t>(wanted.vocab));
  for (auto* group : {&wanted.special, &wanted.words})
    for (const auto& t : *group) {
      if (!t.id) continue;
      if (*t.id >= wanted.vocab || taken[static_cast<std::size_t>(*t.id)])
        reject(where, "the id " + std::to_string(*t.id) + " of " + shown(t.content) +
                          " is outside of the vocabulary or that of another token");
      taken[static_cast<std::size_t>(*t.id)] = true;
    }
  auto free = taken.size() - 1;
  for (auto* group : {&wanted.special, &wanted.words})
    for (auto& t : *group) {
      if (t.id) continue;
      while (taken[free]) --free;
      t.id = static_cast<std::int32_t>(free);
      taken[free] = true;
    }
  return taken;
}

} // namespace

decoder_text stand_in_text(stand_in_tokens wanted, const std::string& where) {
  const auto taken = number(wanted, where);
  text::tokenizer_parts parts;
  for (const auto& t : wanted.special) parts.added.push_back({.id = *t.id, .content = t.content, .special = true});
  for (const auto& t : wanted.words) parts.vocabulary.push_back({text::to_byte_alphabet(t.content), *t.id});
  const std::string bytes = all_bytes();
  std::size_t next = 0;
  for (std::size_t id = 0; id < taken.size(); ++id) {
    if (taken[id]) continue;
    const std::string spelled = next < bytes.size() ? bytes.substr(next++, 1) : " w" + std::to_string(id);
    parts.vocabulary.push_back({text::to_byte_alphabet(spelled), static_cast<std::int32_t>(id)});
  }
  parts.cut.add_pattern({std::string(text::qwen2_pattern), where}, text::pre_tokenizer::keep::all);
  parts.ignore_merges = true; // so that the words are single tokens
  decoder_text made;
  made.tokens = std::make_unique<text::tokenizer>(parts, where);
  made.chat = std::make_unique<text::chat_template>(text::chat_template::parse(chat_ml, "the stand-in chat template"));
  return made;
}

decoder_text stand_in_text(std::int64_t vocab, std::optional<std::int32_t> bos, std::optional<std::int32_t> eos,
                           const std::string& where) {
  if (bos == eos) bos.reset();
  return stand_in_text({vocab, {{"<|im_start|>", bos}, {"<|im_end|>", eos}}, {}}, where);
}

} // namespace omni
