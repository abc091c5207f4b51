#pragma once

#include "kernels/text/tokenizer.hpp"

#include <string>

namespace omni::text {

/// Turns one sequence's tokens into text while they come. What it gives is safe to send at once: whole characters, and
/// U+FFFD only for bytes that nothing to come can complete. All pieces together equal `tokenizer::decode` of all ids.
class detokenizer {
public:
  /// `model` outlives the detokenizer.
  detokenizer(const tokenizer& model, bool skip_special) : model_(&model), skip_special_(skip_special) {}

  /// The text that token `id` completes; often empty inside a character of several tokens.
  std::string push(std::int32_t id);
  /// The end of the sequence: U+FFFD if a character was left incomplete.
  std::string flush();

private:
  const tokenizer* model_;
  bool skip_special_;
  std::string pending_; // at most 3 bytes: the start of a character
};

} // namespace omni::text
