#pragma once

#include "kernels/models/decoder/decoder_text.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace omni {

/// Tokens that a stand-in for a tokenizer must have.
struct stand_in_tokens {
  struct token {
    std::string content;
    std::optional<std::int32_t> id; // absent: any free one
  };
  std::int64_t vocab = 0;
  std::vector<token> special; // those of chat templates, and whatever else is never made from a caller's text
  std::vector<token> words;   // ordinary text that must be one token
};

/// What serves a configuration that came without tokenizer.json: a token for each byte, the given ones, and for every
/// other id a made-up word, so that random tokens can be seen; and a ChatML template with places for media. `where` is
/// the configuration. Throws `load_error` when the vocabulary cannot hold this or two tokens have one id.
decoder_text stand_in_text(stand_in_tokens wanted, const std::string& where);

/// For a decoder whose first end token is `eos`, if it has one; `bos` begins a turn.
decoder_text stand_in_text(std::int64_t vocab, std::optional<std::int32_t> bos, std::optional<std::int32_t> eos,
                           const std::string& where);

} // namespace omni
