#include "kernels/text/added_tokens.hpp"

#include "kernels/core/check.hpp"
#include "kernels/text/utf8.hpp"

#include <algorithm>

namespace omni::text {
namespace {

std::uint64_t edge_key(std::uint32_t node, char byte) {
  return std::uint64_t(node) << 8U | static_cast<unsigned char>(byte);
}

/// Start of the character that ends before `end`.
std::size_t previous_character(std::string_view text, std::size_t end) {
  do --end;
  while (!starts_character(text[end]));
  return end;
}

bool touches_word(std::string_view text, std::size_t begin, std::size_t end) {
  if (end < text.size() && is_word(read_utf8(text.substr(end)).code)) return true;
  return begin > 0 && is_word(read_utf8(text.substr(previous_character(text, begin))).code);
}

} // namespace

void added_token_finder::add(const added_token& token) {
  OMNI_CHECK(!token.content.empty() && token.content.size() <= max_content_bytes, "an added token of a sane length");
  std::uint32_t node = 0;
  for (const char byte : token.content) {
    const auto [edge, is_new] = edges_.try_emplace(edge_key(node, byte), static_cast<std::uint32_t>(nodes_.size()));
    if (is_new) nodes_.emplace_back();
    node = edge->second;
  }
  nodes_[node] = rule{token.id, token.special, token.single_word, token.lstrip, token.rstrip};
  first_byte_[static_cast<unsigned char>(token.content[0])] = true;
}

std::optional<added_token_finder::found> added_token_finder::longest_at(marked_view text, std::size_t at) const {
  std::optional<found> best;
  std::uint32_t node = 0;
  bool marked = false;
  for (std::size_t end = at; end < text.size(); ++end) {
    const auto edge = edges_.find(edge_key(node, text.text[end]));
    if (edge == edges_.end()) break;
    node = edge->second;
    marked = marked || text.marks[end] != 0;
    // A marked special token is passed over, not found and refused: it must not hide a real one that it overlaps.
    if (const auto& here = nodes_[node]; here && !(marked && here->special)) best = found{&*here, at, end + 1};
  }
  return best;
}

void added_token_finder::split(marked_view text, const std::function<void(marked_view)>& piece,
                               const std::function<void(std::int32_t)>& token) const {
  std::size_t done = 0; // everything before has been given out
  for (std::size_t at = 0; at < text.size();) {
    if (!first_byte_[static_cast<unsigned char>(text.text[at])]) {
      ++at;
      continue;
    }
    const auto match = longest_at(text, at);
    if (!match) {
      ++at;
      continue;
    }
    at = match->end;
    if (match->token->single_word && touches_word(text.text, match->begin, match->end)) continue;
    auto [which, begin, end] = *match;
    if (which->lstrip)
      while (begin > done) {
        const std::size_t before = previous_character(text.text, begin);
        if (!is_white_space(read_utf8(text.text.substr(before)).code)) break;
        begin = before;
      }
    if (which->rstrip)
      while (end < text.size() && is_white_space(read_utf8(text.text.substr(end)).code))
        end += utf8_size(text.text[end]);
    if (begin > done) piece(text.substr(done, begin - done));
    token(which->id);
    done = at = end;
  }
  if (done < text.size()) piece(text.substr(done));
}

} // namespace omni::text
