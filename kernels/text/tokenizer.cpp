#include "kernels/text/tokenizer.hpp"

#include "kernels/core/error.hpp"
#include "kernels/text/byte_alphabet.hpp"
#include "kernels/text/utf8.hpp"

#include <algorithm>

namespace omni::text {
namespace {

constexpr std::int32_t max_id = (1 << 20) - 1;   // 4 times the largest vocabularies; bounds the memory of hostile files
constexpr std::size_t max_text_bytes = 64 << 20; // normalisation makes it at most 11 times longer

[[noreturn]] void refuse(const std::string& where, const std::string& what) {
  throw load_error(where + ": " + what + "; get the file again or use another tokenizer.");
}

/// A short form of `content` for a sentence.
std::string quoted(const std::string& content) {
  constexpr std::size_t shown = 40;
  std::string out = "'";
  return out.append(repaired_utf8(std::string_view(content).substr(0, shown)))
      .append(content.size() > shown ? "...'" : "'");
}

void check_id(std::int64_t id, const std::string& content, const std::string& where) {
  if (id < 0 || id > max_id)
    refuse(where,
           "token " + quoted(content) + " has id " + std::to_string(id) + ", expected 0 to " + std::to_string(max_id));
}

class token_collector {
public:
  explicit token_collector(const std::string& where) : where_(where) {}

  void add_ordinary(const std::string& content, std::int32_t id) {
    token_table::token& place = free_place(content, id);
    if (auto bytes = from_byte_alphabet(content)) {
      place.bytes = *std::move(bytes);
      place.spelled = true;
    } else {
      place.bytes = content;
    }
    place.exists = true;
    add_content(content, id);
  }

  /// An added token may stand in the vocabulary too; then both must agree.
  void add_added(const added_token& token) {
    const auto known = by_content_.find(token.content);
    if (known == by_content_.end()) {
      token_table::token& place = free_place(token.content, token.id);
      place.exists = true;
      add_content(token.content, token.id);
    } else if (known->second != token.id) {
      refuse(where_, "token " + quoted(token.content) + " has two ids, " + std::to_string(known->second) + " and " +
                         std::to_string(token.id));
    }
    token_table::token& place = tokens_[static_cast<std::size_t>(token.id)];
    place.special = place.special || token.special;
    if (!place.spelled || place.bytes != token.content) {
      place.bytes = token.content;
      place.spelled = false;
    }
  }

  [[nodiscard]] const std::vector<token_table::token>& tokens() const { return tokens_; }

private:
  void add_content(const std::string& content, std::int32_t id) {
    if (!by_content_.emplace(content, id).second) refuse(where_, "token " + quoted(content) + " appears twice");
  }

  token_table::token& free_place(const std::string& content, std::int32_t id) {
    check_id(id, content, where_);
    const auto at = static_cast<std::size_t>(id);
    if (at >= tokens_.size()) tokens_.resize(at + 1);
    if (tokens_[at].exists)
      refuse(where_, "id " + std::to_string(id) + " is given to two tokens, one of them " + quoted(content));
    return tokens_[at];
  }

  const std::string& where_;
  std::vector<token_table::token> tokens_;
  std::unordered_map<std::string, std::int32_t> by_content_;
};

token_table make_table(const tokenizer_parts& parts, const std::string& where) {
  token_collector collected(where);
  for (const auto& [content, id] : parts.vocabulary) collected.add_ordinary(content, id);
  for (const added_token& token : parts.added) collected.add_added(token);
  if (collected.tokens().empty()) refuse(where, "the vocabulary is empty");
  return token_table(collected.tokens());
}

bpe make_bpe(const token_table& table, const tokenizer_parts& parts, const std::string& where) {
  std::array<std::int32_t, 256> byte_ids{};
  const std::int32_t missing = parts.unknown.value_or(bpe::no_symbol);
  if (parts.unknown && !table.holds(missing))
    refuse(where, "the unknown token has id " + std::to_string(missing) + ", which no token has");
  for (std::size_t byte = 0; byte < 256; ++byte) {
    const char one = static_cast<char>(byte);
    const std::int32_t id = table.find({&one, 1});
    byte_ids[byte] = id == token_table::none ? missing : id;
  }
  return {byte_ids, parts.merges.size()};
}

marked_text repaired(marked_view text) {
  marked_text out;
  out.reserve(text.size());
  while (!text.empty()) {
    const utf8_step step = read_utf8(text.text);
    const marked_view part = text.substr(0, step.size);
    if (step.what == utf8_step::kind::whole)
      out.append(part);
    else
      out.append(repaired_utf8(part.text), part.has_mark());
    text = text.substr(step.size);
  }
  return out;
}

} // namespace

tokenizer::tokenizer(const tokenizer_parts& parts, const std::string& where)
    : table_(make_table(parts, where)), merges_(make_bpe(table_, parts, where)), normalizer_(parts.normalizer),
      cut_(parts.cut), before_(parts.before), after_(parts.after) {
  for (const auto& [content, id] : parts.vocabulary)
    if (!table_.is_spelled(id)) literal_.emplace(content, id);
  for (added_token token : parts.added) {
    literal_.emplace(token.content, token.id);
    if (token.content.empty()) continue; // holds an id, never matches
    const bool late = token.normalized && normalizer_.has_value();
    if (late && is_valid_utf8(token.content))
      token.content = normalized(marked_text(token.content, false).view(), *normalizer_).text();
    if (token.content.size() > added_token_finder::max_content_bytes || !is_valid_utf8(token.content))
      refuse(where, "added token " + quoted(token.content) + " is not UTF-8 text of at most " +
                        std::to_string(added_token_finder::max_content_bytes) + " bytes");
    (late ? normalized_added_ : raw_added_).add(token);
  }
  for (const std::vector<std::int32_t>* ids : {&before_, &after_})
    for (const std::int32_t id : *ids)
      if (!table_.holds(id)) refuse(where, "the post-processor adds id " + std::to_string(id) + ", which no token has");
  add_merges(parts, where);
  find_whole_tokens(parts.ignore_merges);
}

void tokenizer::add_merges(const tokenizer_parts& parts, const std::string& where) {
  for (const auto& [left, right] : parts.merges) {
    const auto bytes_left = from_byte_alphabet(left);
    const auto bytes_right = from_byte_alphabet(right);
    const auto find = [&](const std::string& bytes) { return bytes.empty() ? token_table::none : table_.find(bytes); };
    const std::int32_t a = bytes_left ? find(*bytes_left) : token_table::none;
    const std::int32_t b = bytes_right ? find(*bytes_right) : token_table::none;
    const std::int32_t joined = a >= 0 && b >= 0 ? find(*bytes_left + *bytes_right) : token_table::none;
    if (joined < 0)
      refuse(where,
             "the merge of " + quoted(left) + " and " + quoted(right) + " needs tokens that the vocabulary lacks");
    merges_.add_merge(a, b, joined);
  }
}

void tokenizer::find_whole_tokens(bool ignore_merges) {
  whole_.assign(static_cast<std::size_t>(table_.size()), false);
  bpe::scratch memory;
  std::vector<std::int32_t> ids;
  for (std::int32_t id = 0; id < table_.size(); ++id) {
    if (!table_.is_spelled(id) || table_.is_special(id)) continue;
    ids.clear();
    if (!ignore_merges) merges_.encode(table_.bytes(id), memory, ids);
    whole_[static_cast<std::size_t>(id)] = ignore_merges || (ids.size() == 1 && ids[0] == id);
  }
}

std::vector<std::int32_t> tokenizer::encode(std::string_view text, specials mode, bool add_special_tokens) const {
  const std::string marks(text.size(), static_cast<char>(mode == specials::as_text));
  std::vector<std::int32_t> ids;
  if (add_special_tokens) ids = before_;
  encode_into({text, marks}, ids);
  if (add_special_tokens) ids.insert(ids.end(), after_.begin(), after_.end());
  return ids;
}

std::vector<std::int32_t> tokenizer::encode(const marked_text& prompt) const {
  std::vector<std::int32_t> ids;
  encode_into(prompt.view(), ids);
  return ids;
}

void tokenizer::encode_into(marked_view text, std::vector<std::int32_t>& out) const {
  if (text.size() > max_text_bytes)
    throw input_error("prompt", "The text has " + std::to_string(text.size()) + " bytes, more than the " +
                                    std::to_string(max_text_bytes) + " that are tokenised at once: shorten it.");
  marked_text valid;
  if (!is_valid_utf8(text.text)) {
    valid = repaired(text);
    text = valid.view();
  }
  bpe::scratch memory;
  const auto take_token = [&](std::int32_t id) { out.push_back(id); };
  const auto take_piece = [&](marked_view piece) { encode_piece(piece.text, memory, out); };
  raw_added_.split(
      text,
      [&](marked_view stretch) {
        if (!normalizer_) return take_piece(stretch);
        marked_text changed;
        if (may_need_normalizing(stretch.text, *normalizer_)) {
          changed = normalized(stretch, *normalizer_);
          stretch = changed.view();
        }
        normalized_added_.split(stretch, take_piece, take_token);
      },
      take_token);
}

void tokenizer::encode_piece(std::string_view text, bpe::scratch& memory, std::vector<std::int32_t>& out) const {
  cut_.split(text, [&](std::string_view piece) {
    const std::int32_t id = table_.find(piece);
    if (id != token_table::none && whole_[static_cast<std::size_t>(id)])
      out.push_back(id);
    else
      merges_.encode(piece, memory, out);
  });
}

std::string tokenizer::decode(std::span<const std::int32_t> ids, bool skip_special) const {
  std::string bytes;
  for (const std::int32_t id : ids)
    if (!skip_special || !is_special(id)) bytes += token_bytes(id);
  return repaired_utf8(bytes);
}

std::string tokenizer::token_content(std::int32_t id) const {
  return table_.is_spelled(id) ? to_byte_alphabet(table_.bytes(id)) : std::string(table_.bytes(id));
}

std::optional<std::int32_t> tokenizer::id_of(std::string_view content) const {
  if (const auto literal = literal_.find(std::string(content)); literal != literal_.end()) return literal->second;
  const auto bytes = from_byte_alphabet(content);
  const std::int32_t id = bytes ? table_.find(*bytes) : token_table::none;
  return id == token_table::none ? std::nullopt : std::optional(id);
}

} // namespace omni::text
