#pragma once

#include "app/media/reader.hpp"
#include "app/openai/json.hpp"
#include "app/openai/pipeline_facts.hpp"
#include "app/openai/voice_fields.hpp"

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

namespace omni::openai {

/// How sound is wrapped in a chat answer.
enum class chat_shape : std::uint8_t {
  omni,   // as vLLM-Omni: events with `modality`, each with a WAV file of its own
  openai, // as OpenAI: `audio` objects; chosen by an `audio` object in the request
};

/// One chat request, checked and tokenised, and how its answer is to look.
struct chat_request {
  request work;
  std::shared_ptr<const pipeline_facts> pipeline;
  std::string id;           // "chatcmpl-..."
  std::string audio_id;     // "audio-..."
  std::string model;        // the name to answer with
  std::int64_t created = 0; // Unix seconds
  chat_shape shape = chat_shape::omni;
  sound_format format = sound_format::wav;
  bool want_content = true; // `content` carries the text; off for OpenAI requests for audio alone
  bool stream = false;
  bool include_usage = false;    // a last event with `usage`
  bool continuous_usage = false; // `usage` in every text event
  bool return_token_ids = false;
  bool stage_metrics = false;
};

/// Checks a chat request and renders its prompt, whose media are read by `media` until `cancelled` becomes true. Fills
/// everything but id, audio_id, model and created.
expected<chat_request> read_chat(const json& body, std::shared_ptr<const pipeline_facts> pipeline,
                                 const media::reader& media, const std::atomic<bool>& cancelled);

} // namespace omni::openai
