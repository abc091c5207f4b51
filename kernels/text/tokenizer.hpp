#pragma once

#include "kernels/text/added_tokens.hpp"
#include "kernels/text/bpe.hpp"
#include "kernels/text/marked_text.hpp"
#include "kernels/text/normalizer.hpp"
#include "kernels/text/pre_tokenizer.hpp"
#include "kernels/text/token_table.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace omni::text {

/// What the metadata `tokenizer.ggml.*` of a GGUF file say. The unknown token is not among it: bytes that the
/// vocabulary lacks are left out, as the original tokenizers do.
struct gguf_vocabulary {
  std::string model;                     // "gpt2" is byte-level BPE, the only one supported
  std::string pre;                       // how text is cut: "smollm", "qwen2", "llama-bpe", ...; empty: "default"
  std::vector<std::string> tokens;       // spelled in the byte alphabet, by id
  std::vector<std::int32_t> token_types; // 1 normal, 2 unknown, 3 control, 4 user defined, 5 unused, 6 byte
  std::vector<std::string> merges;       // "left right", best first
  std::optional<std::int32_t> bos;
  std::optional<bool> add_bos; // absent: as usual for `pre`
};

/// What every source of a tokenizer is turned into.
struct tokenizer_parts {
  struct entry {
    std::string content; // spelled in the byte alphabet
    std::int32_t id;
  };
  std::vector<entry> vocabulary;
  std::vector<std::pair<std::string, std::string>> merges; // best first
  std::vector<added_token> added;
  std::optional<normal_form> normalizer;
  pre_tokenizer cut;
  bool ignore_merges = false;          // a whole piece that is in the vocabulary is one token
  std::optional<std::int32_t> unknown; // stands for bytes that the vocabulary lacks; else they are left out
  std::vector<std::int32_t> before;    // tokens that a prompt of this model begins with
  std::vector<std::int32_t> after;     // and ends with
};

/// Whether a special token's text in the input becomes that token.
enum class specials : std::uint8_t { recognised, as_text };

/// Byte-level BPE: text to token ids and back. Immutable after loading, so any thread may use it; moving is cheap.
class tokenizer {
public:
  /// Reads a Hugging Face `tokenizer.json`; `where` names it in errors. Throws `load_error`.
  static tokenizer from_json(std::string_view json, const std::string& where);
  static tokenizer from_gguf(gguf_vocabulary vocabulary, const std::string& where);
  tokenizer(const tokenizer_parts& parts, const std::string& where);

  /// The ids of `text`. `add_special_tokens` puts the model's own begin and end tokens around them. Bytes that are not
  /// UTF-8 count as U+FFFD. Throws `input_error` for more than 64 MiB, or when a pattern of the tokenizer file takes
  /// unreasonably long.
  [[nodiscard]] std::vector<std::int32_t> encode(std::string_view text, specials mode = specials::recognised,
                                                 bool add_special_tokens = false) const;
  /// The ids of a rendered chat prompt, which holds its begin token itself. Special tokens are made only from bytes
  /// that did not come from the caller; everything else is as if the text were encoded whole.
  [[nodiscard]] std::vector<std::int32_t> encode(const marked_text& prompt) const;

  /// The text of `ids`, valid UTF-8. Ids that the vocabulary does not hold give nothing.
  [[nodiscard]] std::string decode(std::span<const std::int32_t> ids, bool skip_special) const;
  /// The bytes that one token adds to the text, not always whole characters; empty for an unknown id.
  [[nodiscard]] std::string_view token_bytes(std::int32_t id) const { return table_.bytes(id); }
  /// The token as the vocabulary spells it, e.g. "Ġhello"; empty for an unknown id.
  [[nodiscard]] std::string token_content(std::int32_t id) const;
  /// The id of a token spelled like that.
  [[nodiscard]] std::optional<std::int32_t> id_of(std::string_view content) const;
  [[nodiscard]] bool is_special(std::int32_t id) const { return table_.is_special(id); }
  /// One more than the largest id.
  [[nodiscard]] std::int32_t vocab_size() const { return table_.size(); }

private:
  void add_merges(const tokenizer_parts& parts, const std::string& where);
  void find_whole_tokens(bool ignore_merges);
  void encode_into(marked_view text, std::vector<std::int32_t>& out) const;
  void encode_piece(std::string_view text, bpe::scratch& memory, std::vector<std::int32_t>& out) const;

  token_table table_;
  std::unordered_map<std::string, std::int32_t> literal_; // tokens not spelled in the byte alphabet, by content
  std::vector<bool> whole_; // by id: a piece with these bytes is just this token, so merging can be spared
  bpe merges_;
  added_token_finder raw_added_;        // looked for before normalisation
  added_token_finder normalized_added_; // and after it
  std::optional<normal_form> normalizer_;
  pre_tokenizer cut_;
  std::vector<std::int32_t> before_;
  std::vector<std::int32_t> after_;
};

} // namespace omni::text
