#pragma once

#include "kernels/text/byte_alphabet.hpp"
#include "kernels/text/tokenizer.hpp"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace omni::text::test {

/// A tokenizer.json with the 256 bytes as ids 0..255, a few merges, and chat control tokens behind them.
inline nlohmann::json tiny_tokenizer_json() {
  nlohmann::json vocab = nlohmann::json::object();
  for (int byte = 0; byte < 256; ++byte) {
    const char one = static_cast<char>(byte);
    vocab[to_byte_alphabet({&one, 1})] = byte;
  }
  const std::vector<std::pair<std::string, std::string>> merges = {{"h", "e"},    {"l", "l"}, {"he", "ll"},
                                                                   {"hell", "o"}, {"a", "b"}, {"b", "c"}};
  nlohmann::json rules = nlohmann::json::array();
  for (const auto& [left, right] : merges) {
    vocab[left + right] = vocab.size();
    rules.push_back(left + " " + right);
  }
  nlohmann::json added = nlohmann::json::array();
  for (const char* control : {"<|im_start|>", "<|im_end|>", "<|end|>"})
    added.push_back({{"id", vocab.size() + added.size()}, {"content", control}, {"special", true}});
  added.push_back({{"id", vocab.size() + added.size()}, {"content", "<think>"}, {"special", false}});
  return {{"added_tokens", added},
          {"normalizer", nullptr},
          {"pre_tokenizer", {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", true}}},
          {"model", {{"type", "BPE"}, {"vocab", vocab}, {"merges", rules}}}};
}

inline tokenizer tiny_tokenizer() { return tokenizer::from_json(tiny_tokenizer_json().dump(), "tiny"); }

} // namespace omni::text::test
