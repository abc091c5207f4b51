#pragma once

#include "actors/engine.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace omni::openai {

/// What the endpoints must know of the pipeline behind the engine. Read once at start, immutable after; the pointers
/// live as long as the engine.
struct pipeline_facts {
  std::optional<stage_id> text_stage;                       // the first stage that reads tokens
  std::optional<stage_id> text_output;                      // the stage whose text goes to clients
  std::optional<stage_id> audio_output;                     // the stage whose sound does
  std::vector<std::string> stage_names;                     // by position
  const stage_model* text_model = nullptr;                  // of the text stage
  const text::tokenizer* tokenizer = nullptr;               // of the text stage
  std::shared_ptr<const text::chat_template> chat_template; // of the text stage, or the operator's own; may be null
  std::int32_t vocab_size = 0;
  std::int32_t max_model_len = 0;
  std::size_t max_prompt_bytes = 0;            // more cannot fit: the context full of the longest token
  sampling_params sampling;                    // the text stage's defaults
  std::vector<sampling_params> stage_sampling; // those of all stages
  std::vector<std::string> speakers;           // the default first; empty if the voice has no names
  std::int32_t sample_rate = 0;
  double frames_per_second = 0; // of the voice stage's frames
};

pipeline_facts facts_of(const engine& running);

/// The operator's own chat template for this pipeline's text stage, with the special tokens that the model's tokenizer
/// tells.
expected<std::shared_ptr<const text::chat_template>> own_chat_template(const std::string& source,
                                                                       const std::string& where, const engine& running);

} // namespace omni::openai
