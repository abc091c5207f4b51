#pragma once

#include "app/openai/json.hpp"
#include "app/openai/pipeline_facts.hpp"
#include "app/openai/voice_fields.hpp"

#include <cstdint>
#include <memory>

namespace omni::openai {

/// One speech request, checked, and how its answer is to go out.
struct speech_request {
  enum class delivery : std::uint8_t {
    whole,  // one body
    bytes,  // the sound's bytes as they come
    events, // server-sent events
  };
  request work;
  std::shared_ptr<const pipeline_facts> pipeline;
  sound_format format = sound_format::wav;
  delivery how = delivery::whole;
  std::int64_t input_tokens = 0; // of the text under the pipeline's tokenizer; characters if it has none
};

/// Checks a speech request. Fills everything but the request's name.
expected<speech_request> read_speech(const json& body, std::shared_ptr<const pipeline_facts> pipeline);

} // namespace omni::openai
