#pragma once

#include "app/media/reader.hpp"
#include "app/openai/json.hpp"
#include "app/openai/pipeline_facts.hpp"

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace omni::openai {

class fields;

/// Whether a part of that type brings a sound, picture or video: input_audio, audio_url, image_url and video_url do.
bool is_media_type(std::string_view type);

/// What a part of such a type brings; nothing where something is wrong, which is recorded.
std::optional<media::source> read_media_part(fields& part, const std::string& type, std::optional<failure>& problem);

/// Whether a message of the request brings a sound, picture or video, so that reading its prompt may take long.
bool brings_media(const json& body);

/// `messages` as the chat template takes them: parts joined unless the template takes them apart, sounds, pictures and
/// videos as {"type": "audio"}, "image" or "video" in their places and into `media`, `developer` as `system`, tool
/// arguments as objects. What is wrong is recorded in `problem`.
json read_messages(fields& from, const pipeline_facts& pipeline, std::vector<media::source>& media,
                   std::optional<failure>& problem);

/// The prompt from `messages`, `tools`, `tool_choice`, `add_generation_prompt`, `continue_final_message` and
/// `chat_template_kwargs` of a request; `media` fetches and decodes what they bring, until `cancelled` becomes true.
/// `pipeline` must have a tokenizer.
expected<placed_prompt> read_prompt(const json& body, const pipeline_facts& pipeline, const media::reader& media,
                                    const std::atomic<bool>& cancelled);

} // namespace omni::openai
